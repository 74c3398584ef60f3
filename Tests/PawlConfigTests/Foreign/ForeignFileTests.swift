import Testing

@testable import PawlConfig

@Suite("Files of other programs") struct ForeignFileTests {
  static let first =
    "pawl reads INI text. Four lines are enough to begin with: "
    + "[upstream:app], url = http://127.0.0.1:9000, [site:default], upstream = app"

  static let files: [(ForeignProgram, String, [Int])] = [
    (
      .nginx,
      """
      # comment
      events { worker_connections 1024; }
      http {
        server {
          listen [::]:80;
          server_name example.org;
          location / { proxy_pass http://app; }
        }
      }
      """, [2, 2, 3, 4, 5, 6, 7, 7]
    ),
    (.nginx, "proxy_pass http://127.0.0.1:9000;", [1]),
    (.nginx, "# a\u{2028}b\u{c}\rc\r\nproxy_pass http://127.0.0.1:9000;", [2]),
    (
      .haproxy,
      """
      defaults
        mode http
        timeout connect 5s
      frontend web
        bind *:80
      backend app
        server a 10.0.0.1:80 check
      """, [1, 2, 3, 4, 5, 6, 7]
    ),
    (.caddy, "example.com {\n  reverse_proxy localhost:9000\n  encode gzip\n}", [1, 2, 3]),
    (.caddy, ":80 {\n  root * /srv\n  file_server\n}", [1, 2, 3]),
    (
      .varnish,
      """
      vcl 4.1;
      backend default { .host = "127.0.0.1"; .port = "8080"; }
      sub vcl_recv {
        if (req.url ~ "^/x") { return (pass); }
        set req.backend_hint = default;
      }
      """, [1, 2, 2, 2, 3, 4, 4, 5]
    ),
    (.apache, "<VirtualHost *:80>\n  ServerName a.example\n  ProxyPass / http://b/\n</VirtualHost>", [1, 2, 3]),
    (.trafficServer, "map http://a.example/ http://10.0.0.1/", [1]),
    (.trafficServer, "CONFIG proxy.config.http.server_ports STRING 80\nCONFIG proxy.config.x INT 1", [1, 2]),
    (.squid, "http_port 3128 accel\ncache_peer 10.0.0.1 parent 80 0", [1, 2]),
  ]

  @Test("are recognised, and each known word is answered where it first stands", arguments: files)
  func recognises(_ program: ForeignProgram, _ text: String, _ lines: [Int]) throws {
    let file = try #require(ForeignFile(Array(text.utf8)))
    #expect(file.program == program)
    #expect(file.answers.map(\.line) == lines)
    let found = mistakes(in: text)
    #expect(found.first == "/etc/pawl/pawl.ini:1: this is a configuration of \(program.name); \(Self.first)")
    #expect(found.count == lines.count + 1)
  }

  @Test(
    "INI texts, and texts of nobody, are not taken for one",
    arguments: [
      "", "# nothing", smallest, "[x]\nserver_name a;", "keepalive-timeout = 65s", "listen=80", "hello world", "{\n}",
    ])
  func others(_ text: String) {
    #expect(ForeignFile(Array(text.utf8)) == nil)
  }

  @Test("a word that stands in several lines is answered once, with their number")
  func once() {
    let text = "server_name a;\nserver_name b;\ngzip on;\nserver_name c;"
    #expect(
      mistakes(in: text).dropFirst() == [
        "/etc/pawl/pawl.ini:1: server_name: write host = NAME in [site:NAME] (and 2 more lines)",
        "/etc/pawl/pawl.ini:3: gzip: write compress = text, or compress = off, in [site:NAME] or [route:SITE/NAME]",
      ])
  }

  @Test("one hundred words are answered, and no more")
  func most() throws {
    let words = ForeignProgram.nginx.words.map(\.key).filter { !$0.contains(" ") && !$0.contains("*") }
    func answered(_ count: Int) -> Int? {
      let text = words.prefix(count).map { "\($0) x;" }.joined(separator: "\n")
      return ForeignFile(Array(text.utf8))?.answers.count
    }
    #expect(ForeignFile.mostAnswers == 100)
    #expect(answered(100) == 100)
    #expect(answered(101) == 100)
  }

  @Test("an included file of another program is answered, and the rest is read")
  func included() {
    let found = mistakes(
      in: smallest + "colapse = auto\n[include]\nfiles = x.conf", files: ["/etc/pawl/x.conf": "proxy_pass http://a;"])
    #expect(
      found == [
        "/etc/pawl/pawl.ini:5: [site:default] colapse: unknown key - did you mean \"collapse\"?",
        "/etc/pawl/x.conf:1: this is a configuration of nginx; \(Self.first)",
        "/etc/pawl/x.conf:1: proxy_pass: write url = http://HOST:PORT in [upstream:NAME], and upstream = NAME in [site:NAME] or [route:SITE/NAME]",
      ])
  }
}
