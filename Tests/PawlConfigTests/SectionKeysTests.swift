import PawlConfig
import Testing

/// The table of the configuration contract: each section, each key, its default as it is written.
@Suite("Keys and their defaults") struct SectionKeysTests {
  static let pathKeys = [
    "upstream = app", "cache = default", "uploads = on", "spool = default", "upload-prefix = /.pawl/uploads/",
    "etag = auto", "default-ttl = 0s", "heuristic-ttl = 24h", "resume-ttl = 1h", "resume-ttl-no-cache = off",
    "ignore-cookies = analytics", "key-cookies = all", "collapse = auto",
    "origin-encoding = identity", "stale-if-error = 0s",
    "max-object = 0", "max-unknown = 1G", "abandoned-fill = 64M", "max-ranges = 16", "resume-private = off",
    "resume-private-no-store = off", "hsts = off", "client-certificate-field = off", "via = on",
    "request-buffering = on",
    "max-request-buffer = 1G", "max-response-buffer = 1G",
    "compress = text", "compress-min = 1K", "compress-max = 8M", "compress-attachments = off",
    "compress-credentials = auto", "compress-codings = zstd", "compress-codings = br", "compress-codings = gzip",
    "max-upload = 0",
    "min-resumable = 64K", "final-dialect = off",
    "min-rate = 1K/60s", "delivery = at-most-once", "forward-give-up = off", "response-ttl = 1h", "response-max = 1M",
    "tus-forward = raw", "tus-field = file", "tus-form = none", "tus-wait = 50s", "plain-uploads = stream",
    "auth-request = none",
    "cors = off", "owner = authorization", "owner = client-certificate",
  ]

  @Test(
    "are those of the manual",
    arguments: [
      (
        "pawl",
        [
          "state-dir = /var/lib/pawl", "workers = auto", "user = none", "group = none", "drain-timeout = 10s",
          "upgrade-timeout = 1h",
          "log-level = info",
          "log = stderr", "access-log = stdout",
          "access-log-format = combined", "access-log-sample = 1", "syslog-format = rfc5424",
          "syslog-facility = daemon",
          "trusted-proxies = none", "max-connections = 0",
        ]
      ),
      (
        "listen:default",
        [
          "address = 127.0.0.1:8080", "unix-mode = umask", "tls = none", "http2 = on", "max-streams = 128",
          "max-window = 16M",
          "proxy-protocol = off", "header-timeout = 15s",
          "keepalive-timeout = 60s", "send-timeout = 60s", "max-header = 32K", "max-header-fields = 128",
          "health-path = none",
        ]
      ),
      (
        "tls:web",
        [
          "certificate = /etc/pawl/c.pem", "key = /k.pem", "ocsp = none", "client-ca = none",
          "client-certificate = off",
          "min-version = 1.2",
        ]
      ),
      (
        "cache:default",
        [
          "path = /var/lib/pawl/cache", "max-size = 80% of the free space at first start", "min-free = 1G",
          "memory = 64M", "memory-object = 32K", "packed-object = 256K",
        ]
      ),
      (
        "spool:default",
        [
          "path = /var/lib/pawl/spool", "max-size = 10% of the file system", "expire-after = 24h", "max-age = 7d",
          "durability = data", "max-uploads-per-client = 100", "max-share-per-client = 25%",
        ]
      ),
      (
        "upstream:app",
        [
          "url = http://127.0.0.1:9000", "balance = round-robin", "max-rest = 32s", "rest-after-errors = 5",
          "check-path = none", "check-interval = 10s", "check-timeout = 5s", "check-status = 200-399",
          "check-fall = 2", "check-rise = 2", "connect-timeout = 5s", "response-timeout = 15m", "idle-timeout = 60s",
          "max-connections = 64", "max-live-connections = 10000", "queue-timeout = 30s", "max-share-per-client = 80%",
          "max-share-per-path = 60%",
          "resume-attempts = 10", "replay-limit = 20",
          "tls-verify = on", "tls-ca = system", "tls-certificate = none", "tls-key = none", "tls-server-name = auto",
          "tls-min-version = 1.2",
        ]
      ),
      ("site:default", ["host = any"] + pathKeys),
      ("route:default/a", ["path = /a*"] + pathKeys),
      (
        "admin",
        ["listen = unix:/var/lib/pawl/admin.sock", "mode = 0600", "tls = none", "token = none", "allow-host = none"]
      ),
    ])
  func defaults(_ label: String, _ expected: [String]) throws {
    let text = smallest + "[tls:web]\ncertificate = c.pem\nkey = /k.pem\n[route:default/a]\npath = /a*"
    let section = try #require(try load(text).effective.first { $0.label == label })
    #expect(section.values.map { "\($0.key) = \($0.text)" } == expected)
  }

  @Test("shown by config can be written in a file, and mean the same")
  func roundTrip() throws {
    let first = try load(smallest + "[route:default/a]\npath = /a*")
    var text = ""
    for section in first.effective {
      text += "[\(section.label)]\n"
      for value in section.values where !value.text.contains("%") || value.key == "max-share-per-client" {
        text += "\(value.key) = \(value.text)\n"
      }
    }
    let second = try load(text)
    #expect(second.process == first.process)
    // Sites by what they show: that a value was written may count, as that of `default-ttl` does.
    #expect(second.effective.map(\.shown) == first.effective.map(\.shown))
    #expect(second.listeners == first.listeners)
    #expect(second.caches == first.caches)
    #expect(second.spools == first.spools)
    #expect(second.upstreams == first.upstreams)
  }

  @Test("of TLS, as config shows them, mean the same")
  func roundTripTLS() throws {
    let first = try load(
      smallest + """
        hsts = 365d include-subdomains preload
        client-certificate-field = on
        [listen:web]
        tls = web, other
        http2 = off
        [tls:web]
        certificate = ec.pem
        key = ec.key
        certificate = a file with blanks.pem
        key = rsa.key
        ocsp = ec.ocsp
        client-ca = ca.pem
        client-certificate = required
        min-version = 1.3
        [tls:other]
        certificate = o.pem
        key = o.key
        """)
    let text = first.effective.map { section in
      let values = section.values.filter { !$0.text.contains("%") || $0.key == "max-share-per-client" }
      return "[\(section.label)]\n" + values.map { "\($0.key) = \($0.text)\n" }.joined()
    }.joined()
    let second = try load(text)
    #expect(second.tls == first.tls)
    #expect(second.listeners == first.listeners)
    #expect(second.effective.map(\.shown) == first.effective.map(\.shown))
    #expect(first.tls[0].certificateFiles == ["/etc/pawl/ec.pem", "/etc/pawl/a file with blanks.pem"])
    #expect(first.listeners[0].tls == ["web", "other"])
  }
}

extension EffectiveSection {
  fileprivate var shown: [String] { values.map { "\(label) \($0.key) = \($0.text)" } }
}
