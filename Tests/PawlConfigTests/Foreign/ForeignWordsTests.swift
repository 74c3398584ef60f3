import Testing

@testable import PawlConfig

@Suite("Words of other programs") struct ForeignWordsTests {
  /// The kinds of the sections that a text names, and the keys that it says to write.
  private func named(_ text: String) -> (kinds: [String], keys: [String]) {
    let kinds = text.split(separator: "[").dropFirst().map { String($0.prefix { $0.isLetter }) }
    let words = text.split { $0 == " " || $0 == "," || $0 == ";" || $0 == "(" }.map(String.init)
    let keys = words.indices.dropFirst().filter { words[$0] == "=" }.map { words[$0 - 1] }
    return (kinds, keys)
  }

  @Test("name only sections and keys that there are", arguments: ForeignProgram.allCases)
  func keys(_ program: ForeignProgram) {
    let known = Set(SectionKind.allCases.flatMap(\.keyNames))
    for (word, text) in program.words {
      let (kinds, keys) = named(text)
      #expect(kinds.allSatisfy { SectionKind(rawValue: $0) != nil }, "\(word): \(text)")
      #expect(keys.allSatisfy(known.contains), "\(word): \(text)")
      for kind in kinds where kinds.count == 1 && text.hasPrefix("write ") {
        let own = SectionKind(rawValue: kind)?.keyNames ?? []
        #expect(keys.allSatisfy(own.contains), "\(word): \(text)")
      }
    }
  }

  @Test("say what to write, where to begin, or why there is nothing to write", arguments: ForeignProgram.allCases)
  func forms(_ program: ForeignProgram) {
    let beginnings = ["write ", "begin a section ", "leave it out: ", "there is no ", "each ", "the admin socket "]
    for (word, text) in program.words {
      let isKnown = beginnings.contains { text.hasPrefix($0) } || ["server {", "global"].contains(word)
      #expect(isKnown, "\(word): \(text)")
    }
  }

  @Test("stand once in the table of a program", arguments: ForeignProgram.allCases)
  func once(_ program: ForeignProgram) {
    let words = program.words.map { ForeignWords.normalized($0.key) }
    #expect(Set(words).count == words.count, "\(words.filter { word in words.count { $0 == word } > 1 })")
  }

  /// What people write who come from another program, as the third line of a file, and what they are told.
  static let habits: [(line: String, key: String, message: String)] = [
    ("server_name = x", "server-name", "a word of nginx; write host = NAME in [site:NAME]"),
    ("server_name example.org;", "server_name", "a word of nginx; write host = NAME in [site:NAME]"),
    (
      "listen = 80", "listen",
      "a word of nginx; write address = 0.0.0.0:80 in [listen:NAME]; tls = NAME there makes it HTTPS"
    ),
    (
      "listen 443 ssl;", "listen",
      "a word of nginx; write address = 0.0.0.0:80 in [listen:NAME]; tls = NAME there makes it HTTPS"
    ),
    (
      "server {", "server",
      "a word of nginx; its names are host = NAME in [site:NAME], its address is address = 0.0.0.0:80 in [listen:NAME]"
    ),
    (
      "server 10.0.0.1:80;", "server",
      "a word of nginx; write url = http://HOST:PORT weight=2 in [upstream:NAME], once for each server"
    ),
    (
      "proxy_pass = http://app", "proxy-pass",
      "a word of nginx; write url = http://HOST:PORT in [upstream:NAME], and upstream = NAME in [site:NAME] or [route:SITE/NAME]"
    ),
    (
      "location /x/ {", "location",
      "a word of nginx; begin a section [route:SITE/NAME] with path = /x/* (without the star it is that one path); what holds for / stands in [site:NAME]"
    ),
    (
      "proxy_cache_path = /var/cache", "proxy-cache-path",
      "a word of nginx; write path = DIRECTORY and max-size = 10G in [cache:NAME]"
    ),
    (
      "proxy_cache_valid 200 10m;", "proxy_cache_valid",
      "a word of nginx; write default-ttl = 10m in [site:NAME] or [route:SITE/NAME]; what the application says of itself comes first"
    ),
    (
      "client_max_body_size = 10m", "client-max-body-size",
      "a word of nginx; write max-upload = 10M in [site:NAME] or [route:SITE/NAME]"
    ),
    (
      "ssl_certificate /x.pem;", "ssl_certificate",
      "a word of nginx; write certificate = FILE in [tls:NAME], and tls = NAME in [listen:NAME]"
    ),
    ("ssl_certificate_key = /x.key", "ssl-certificate-key", "a word of nginx; write key = FILE in [tls:NAME]"),
    ("ssl_protocols TLSv1.3;", "ssl_protocols", "a word of nginx; write min-version = 1.2 in [tls:NAME]"),
    (
      "gzip on;", "gzip",
      "a word of nginx; write compress = text, or compress = off, in [site:NAME] or [route:SITE/NAME]"
    ),
    ("worker_processes = auto", "worker-processes", "a word of nginx; write workers = auto in [pawl]"),
    (
      "proxy_read_timeout 60s;", "proxy_read_timeout",
      "a word of nginx; write response-timeout = 15m (until the first byte) and idle-timeout = 60s (within a body) in [upstream:NAME]"
    ),
    (
      "proxy_set_header Host $host;", "proxy_set_header",
      "a word of nginx; leave it out: Host is passed on, and X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host and X-Request-Id are sent by themselves; there is no key for others"
    ),
    ("include = x.conf", "include", "a word of nginx; begin a section [include], and write files = conf.d/*.ini in it"),
    (
      "root /var/www;", "root",
      "a word of nginx; there is no key for it: pawl serves no files; name the file server behind it as url = http://HOST:PORT in [upstream:NAME]"
    ),
    (
      "try_files $uri /index.html;", "try_files",
      "a word of nginx; there is no key for it: pawl serves no files; the application behind it decides"
    ),
    (
      "rewrite ^/a /b;", "rewrite",
      "a word of nginx; there is no key for it: pawl changes no paths, except that url = http://HOST/BASE in [upstream:NAME] puts /BASE before them"
    ),
    (
      "return 301 https://x;", "return",
      "a word of nginx; there is no key for it: pawl makes no answers of its own; the application redirects"
    ),
    (
      "add_header X-A b;", "add_header",
      "a word of nginx; there is no key for it: the application sends its fields; hsts = 365d in [site:NAME] sends Strict-Transport-Security"
    ),
    (
      "upstream x {", "upstream",
      "a word of nginx; begin a section [upstream:NAME], and write a url = http://HOST:PORT in it for each server"
    ),
    (
      "limit_rate = 1m", "limit-rate", "a word of nginx; there is no key for it: clients get all the bandwidth there is"
    ),
    ("sendfile on;", "sendfile", "a word of nginx; leave it out: it is used where it helps"),
    (
      "frontend web", "frontend",
      "a word of HAProxy; begin a section [listen:NAME] for its addresses, and a [site:NAME] for its hosts"
    ),
    (
      "backend app", "backend",
      "a word of HAProxy; begin a section [upstream:NAME], and write a url = http://HOST:PORT in it for each server"
    ),
    (
      "bind *:80", "bind",
      "a word of HAProxy; write address = 0.0.0.0:80 in [listen:NAME]; tls = NAME there is what ssl crt does"
    ),
    ("option httpchk", "option httpchk", "a word of HAProxy; write check-path = /PATH in [upstream:NAME]"),
    (
      "maxconn = 100", "maxconn",
      "a word of HAProxy; write max-connections = 20000 in [pawl] for clients, or max-connections = 64 in [upstream:NAME] for the application"
    ),
    (
      "timeout server 30s", "timeout server",
      "a word of HAProxy; write response-timeout = 15m (until the first byte) and idle-timeout = 60s (within a body) in [upstream:NAME]"
    ),
    ("timeout client = 30s", "timeout client", "a word of HAProxy; write send-timeout = 60s in [listen:NAME]"),
    ("default_backend = app", "default-backend", "a word of HAProxy; write upstream = NAME in [site:NAME]"),
    ("nbthread 4", "nbthread", "a word of HAProxy; write workers = auto in [pawl]"),
    (
      "reverse_proxy localhost:9000", "reverse_proxy",
      "a word of Caddy; write url = http://HOST:PORT in [upstream:NAME], and upstream = NAME in [site:NAME] or [route:SITE/NAME]"
    ),
    (
      "tls internal", "tls internal",
      "a word of Caddy; there is no key for it: pawl makes no certificates; write certificate = FILE and key = FILE in [tls:NAME]"
    ),
    (
      "file_server", "file_server",
      "a word of Caddy; there is no key for it: pawl serves no files; name the file server behind it as url = http://HOST:PORT in [upstream:NAME]"
    ),
    (
      "encode gzip", "encode",
      "a word of Caddy; write compress = text and compress-codings = zstd, br, gzip in [site:NAME] or [route:SITE/NAME]"
    ),
    (
      "lb_policy = random", "lb-policy",
      "a word of Caddy; write balance = round-robin, least-connections or hash in [upstream:NAME]"
    ),
    (
      "example.org {", "site address",
      "a word of Caddy; write host = NAME in [site:NAME], and address = 0.0.0.0:443 in [listen:NAME]"
    ),
    ("vcl 4.1;", "vcl", "a word of Varnish; leave it out: a configuration of pawl is no program"),
    (
      "sub vcl_recv {", "sub",
      "a word of Varnish; there is no section for it: keys of [site:NAME] and [route:SITE/NAME] stand for what VCL programs"
    ),
    (".host = \"127.0.0.1\";", ".host", "a word of Varnish; write url = http://HOST:PORT in [upstream:NAME]"),
    (
      "set beresp.ttl = 1h;", "set beresp.ttl",
      "a word of Varnish; write default-ttl = 10m in [site:NAME] or [route:SITE/NAME]; what the application says of itself comes first"
    ),
    ("std.log(\"x\");", "std.*", "a word of Varnish; there is no key for it: there are no modules"),
    (
      "-s malloc,1G", "-s",
      "a word of Varnish; write memory = 64M, path = DIRECTORY and max-size = 10G in [cache:NAME]"
    ),
    (
      "first_byte_timeout = 60s", "first-byte-timeout",
      "a word of Varnish; write response-timeout = 15m in [upstream:NAME]"
    ),
    (
      "map http://a/ http://b/", "map",
      "a word of Traffic Server; write host = NAME in [site:NAME], and url = http://HOST:PORT in [upstream:NAME]"
    ),
    (
      "CONFIG proxy.config.cache.ram_cache.size INT 1G", "proxy.config.cache.ram_cache.size",
      "a word of Traffic Server; write memory = 64M in [cache:NAME]"
    ),
    ("ServerName a.example", "ServerName", "a word of Apache; write host = NAME in [site:NAME]"),
    (
      "LimitRequestBody = 1", "LimitRequestBody",
      "a word of Apache; write max-upload = 10M in [site:NAME] or [route:SITE/NAME]"
    ),
    ("cache_dir = ufs /x", "cache-dir", "a word of Squid; write path = DIRECTORY and max-size = 10G in [cache:NAME]"),
    ("cache_mem 1 GB", "cache_mem", "a word of Squid; write memory = 64M in [cache:NAME]"),
  ]

  @Test("are answered in a file of pawl with the key to use, or why there is none", arguments: habits)
  func answers(_ line: String, _ key: String, _ message: String) {
    let text = smallest + "# a line that stood in another program's file\n" + line
    #expect(mistakes(in: text) == ["/etc/pawl/pawl.ini:6: [site:default] \(key): \(message)"])
  }

  @Test("there are fifty mistakes and more")
  func fifty() { #expect(Self.habits.count >= 50) }

  @Test(
    "are answered where they name a section, too",
    arguments: [
      (
        "[server:web]",
        "its names are host = NAME in [site:NAME], its address is address = 0.0.0.0:80 in [listen:NAME]", "nginx"
      ),
      (
        "[backend:app]", "begin a section [upstream:NAME], and write a url = http://HOST:PORT in it for each server",
        "HAProxy"
      ),
      ("[global]", "what holds for the process stands in [pawl]", "HAProxy"),
      ("[http]", "leave it out: every section stands by itself", "nginx"),
    ])
  func sections(_ header: String, _ text: String, _ program: String) {
    let found = mistakes(in: smallest + header)
    #expect(found == ["/etc/pawl/pawl.ini:5: \(header) a word of \(program); \(text)"])
  }

  @Test(
    "pawl's own words are told from them",
    arguments: [
      ("max-upload = 1M", "max-upload: belongs in [site:NAME] or [route:SITE/NAME], not in [pawl]"),
      ("url = http://a", "url: belongs in [upstream:NAME], not in [pawl]"),
      ("keepalive_timeout = 65s", "keepalive-timeout: belongs in [listen:NAME], not in [pawl]"),
      (
        "max-uplaod = 1M",
        "max-uplaod: unknown key; max-upload belongs in [site:NAME] or [route:SITE/NAME], not in [pawl] - did you mean \"max-upload\"?"
      ),
      (
        "workers 4", "expected key = value, [section] or a comment, found \"workers 4\" - did you mean \"workers = 4\"?"
      ),
      (
        "log_level: info",
        "expected key = value, [section] or a comment, found \"log_level: info\" - did you mean \"log-level = info\"?"
      ),
      (
        "workers", "expected key = value, [section] or a comment, found \"workers\" - did you mean \"workers = VALUE\"?"
      ),
      ("}", "a section has no braces: [type:name] begins it, and the next one ends it"),
      ("any old line", "expected key = value, [section] or a comment, found \"any old line\""),
      (
        "workers = 4;",
        "workers: expected auto or a whole number from 1 to 1024, found \"4;\"; a line has no ; at its end"
      ),
      (
        "log-level = \"info\"",
        "log-level: expected debug, info, notice, warning or error, found \"\"info\"\"; a value stands without quotes - did you mean \"info\"?"
      ),
      ("state-dir = '/x'", "state-dir: the quotes are a part of the value: values stand without quotes (warning)"),
    ])
  func own(_ line: String, _ expected: String) {
    #expect(mistakes(in: "\(smallest)[pawl]\n\(line)") == ["/etc/pawl/pawl.ini:6: [pawl] \(expected)"])
  }
}
