import CLinux

@testable import PawlConfig
@testable import PawlServer

/// One key of the configuration file, and what a reload with another value does.
///
/// **A new key needs a row here**, in the list of its section: its name, other valid values (the first that differs from the value in
/// use is taken), and, if the probe of its section (``ReloadBench/probe(_:)``) does not show it, a probe of its own.
struct ReloadRow {
  enum Effect {
    /// A probe shows something else after the reload: that of the section, or this one.
    case effect(((ReloadBench) -> String)?)
    /// The key is named as one that needs a restart.
    case restart
    /// The reload is refused, and nothing changes.
    case refused
    /// The configuration cannot be loaded with it yet.
    case unsupported
  }

  let key: String
  let values: [String]
  let effect: Effect
  /// Further lines of the section that this value needs.
  let with: [String]

  init(_ key: String, _ values: String..., with: [String] = [], effect: Effect = .effect(nil)) {
    (self.key, self.values, self.effect, self.with) = (key, values, effect, with)
  }

  /// With a probe of its own.
  init(_ key: String, _ values: String..., seenBy probe: @escaping (ReloadBench) -> String) {
    (self.key, self.values, self.effect, with) = (key, values, .effect(probe), [])
  }

  static func rows(of kind: SectionKind, in bench: ReloadBench) -> [ReloadRow] {
    switch kind {
    case .pawl: process(bench)
    case .listen: listen
    case .tls: tls(bench)
    case .cache: cache(bench)
    case .spool: spool(bench)
    case .upstream: upstream(bench)
    case .site: [ReloadRow("host", "x.example")] + site
    case .route: [ReloadRow("path", "/other*")] + site
    case .admin: admin
    case .include: [ReloadRow("files", "/test/more.ini") { "\($0.server.configuration.sites.count)" }]
    }
  }

  private static func process(_ bench: ReloadBench) -> [ReloadRow] {
    [
      ReloadRow("state-dir", bench.folder.path + "/elsewhere", effect: .refused),
      ReloadRow("workers", "2", effect: .restart), ReloadRow("user", "nobody", effect: .restart),
      ReloadRow("group", "nogroup", effect: .restart),
      ReloadRow("upgrade-timeout", "9s") { "\($0.server.configuration.process.upgradeTimeout)" },
      ReloadRow("drain-timeout", "9s") { "\($0.server.configuration.process.drainTimeout)" },
      ReloadRow("log-level", "error") { "\($0.server.events.level)" },
      ReloadRow("log", bench.folder.path + "/events.log") { "\(access($0.folder.path + "/events.log", F_OK))" },
      ReloadRow("access-log", "off") { "\($0.server.services.accessLog == nil)" },
      ReloadRow("access-log-format", "json") { $0.accessLog }, ReloadRow("access-log-sample", "1/9") { $0.accessLog },
      ReloadRow("syslog-format", "rfc3164") { $0.accessLog }, ReloadRow("syslog-facility", "local7") { $0.accessLog },
      ReloadRow("trusted-proxies", "192.0.2.0/24") { "\($0.server.admission.settings.trusted)" },
      ReloadRow("max-connections", "9") { "\($0.server.admission.settings.limit)" },
    ]
  }

  /// `AdminLoopTests` shows what a reload of these does; a `TestServer` has no admin interface.
  private static var admin: [ReloadRow] {
    let probe: (ReloadBench) -> String = { "\($0.server.configuration.admin)" }
    return [
      ReloadRow("listen", "unix:/tmp/other.sock", seenBy: probe), ReloadRow("mode", "0660", seenBy: probe),
      ReloadRow("tls", "main", seenBy: probe), ReloadRow("token", "0123456789abcdef0123", seenBy: probe),
      ReloadRow("allow-host", "x.example", seenBy: probe),
    ]
  }

  private static var listen: [ReloadRow] {
    [
      ReloadRow("address", "127.0.0.2:0") { "\($0.server.addresses)" },
      ReloadRow("tls", "none") { "\($0.server.urls)" },
      ReloadRow("http2", "on", "off"), ReloadRow("max-streams", "9"), ReloadRow("max-window", "9M"),
      ReloadRow("proxy-protocol", "on"), ReloadRow("header-timeout", "9s"), ReloadRow("keepalive-timeout", "9s"),
      ReloadRow("send-timeout", "9s"), ReloadRow("max-header", "9K"), ReloadRow("max-header-fields", "9"),
      ReloadRow("unix-mode", "0660", effect: .restart), ReloadRow("health-path", "/health"),
    ]
  }

  private static func tls(_ bench: ReloadBench) -> [ReloadRow] {
    let other = bench.other
    return [
      ReloadRow("certificate", other.certificate, with: ["key = \(other.key)"]),
      ReloadRow("key", other.key, with: ["certificate = \(other.certificate)"]),
      ReloadRow("ocsp", bench.ocsp), ReloadRow("client-ca", bench.authority.certificate),
      ReloadRow("client-certificate", "optional", with: ["client-ca = \(bench.authority.certificate)"]),
      ReloadRow("min-version", "1.3"),
    ]
  }

  private static func cache(_ bench: ReloadBench) -> [ReloadRow] {
    [
      ReloadRow("path", bench.folder.path + "/cache2"), ReloadRow("max-size", "9M"), ReloadRow("min-free", "9M"),
      ReloadRow("memory", "9M"), ReloadRow("memory-object", "9K"), ReloadRow("packed-object", "9K"),
    ]
  }

  private static func spool(_ bench: ReloadBench) -> [ReloadRow] {
    [
      ReloadRow("path", bench.folder.path + "/spool2"), ReloadRow("max-size", "9M"), ReloadRow("expire-after", "9m"),
      ReloadRow("max-age", "9d"), ReloadRow("durability", "none"), ReloadRow("max-uploads-per-client", "9"),
      ReloadRow("max-share-per-client", "9%"),
    ]
  }

  private static func upstream(_ bench: ReloadBench) -> [ReloadRow] {
    let certificate = ["tls-certificate = \(bench.other.certificate)", "tls-key = \(bench.other.key)"]
    return [
      ReloadRow("url", "https://127.0.0.2:1"), ReloadRow("balance", "hash"), ReloadRow("max-rest", "9s"),
      ReloadRow("rest-after-errors", "9"), ReloadRow("check-path", "/none"),
      ReloadRow("check-interval", "9h"), ReloadRow("check-timeout", "9s"), ReloadRow("check-status", "299"),
      ReloadRow("check-fall", "9"), ReloadRow("check-rise", "9"), ReloadRow("connect-timeout", "9s"),
      ReloadRow("response-timeout", "9s"), ReloadRow("idle-timeout", "9s"), ReloadRow("max-connections", "9"),
      ReloadRow("max-live-connections", "9"), ReloadRow("queue-timeout", "9s"),
      ReloadRow("max-share-per-client", "9%"), ReloadRow("max-share-per-path", "9%"),
      ReloadRow("resume-attempts", "9"), ReloadRow("replay-limit", "9"), ReloadRow("tls-verify", "off"),
      ReloadRow("tls-ca", bench.authority.certificate),
      ReloadRow("tls-certificate", bench.other.certificate, with: [certificate[1]]),
      ReloadRow("tls-key", bench.other.key, with: [certificate[0]]), ReloadRow("tls-server-name", "x.example"),
      ReloadRow("tls-min-version", "1.3"),
    ]
  }

  private static var site: [ReloadRow] {
    [
      ReloadRow("upstream", "second"), ReloadRow("cache", "off"), ReloadRow("uploads", "off"),
      ReloadRow("spool", "second"), ReloadRow("upload-prefix", "/.u/"), ReloadRow("etag", "origin"),
      ReloadRow("default-ttl", "9s"), ReloadRow("heuristic-ttl", "9s"), ReloadRow("resume-ttl", "9s"),
      ReloadRow("resume-ttl-no-cache", "on", "off"), ReloadRow("ignore-cookies", "a"), ReloadRow("key-cookies", "a"),
      ReloadRow("collapse", "always"), ReloadRow("origin-encoding", "pass"), ReloadRow("stale-if-error", "9s"),
      ReloadRow("max-object", "9M"), ReloadRow("max-unknown", "9M"), ReloadRow("abandoned-fill", "9M"),
      ReloadRow("max-ranges", "9"), ReloadRow("resume-private", "9s"),
      ReloadRow("resume-private-no-store", "on", "off"),
      ReloadRow("hsts", "9d"), ReloadRow("client-certificate-field", "on", "off"), ReloadRow("via", "always"),
      ReloadRow("request-buffering", "on", "off"), ReloadRow("max-request-buffer", "9M"),
      ReloadRow("max-response-buffer", "9M"), ReloadRow("owner", "cookie:a"),
    ] + uploads + compression
  }

  private static var uploads: [ReloadRow] {
    [
      ReloadRow("max-upload", "9M"), ReloadRow("min-resumable", "9M"), ReloadRow("final-dialect", "on", "off"),
      ReloadRow("min-rate", "9K/9s"), ReloadRow("delivery", "at-least-once", "at-most-once"),
      ReloadRow("forward-give-up", "9h"), ReloadRow("response-ttl", "9m"), ReloadRow("response-max", "9K"),
      ReloadRow("tus-forward", "multipart", "raw"), ReloadRow("tus-field", "a"), ReloadRow("tus-form", "a=b"),
      ReloadRow("tus-wait", "9s"), ReloadRow("plain-uploads", "spool", "stream"), ReloadRow("auth-request", "/a"),
      ReloadRow("cors", "*"),
    ]
  }

  private static var compression: [ReloadRow] {
    [
      ReloadRow("compress", "text/plain"), ReloadRow("compress-min", "9K"), ReloadRow("compress-max", "9M"),
      ReloadRow("compress-attachments", "on", "off"), ReloadRow("compress-credentials", "on", "off"),
      ReloadRow("compress-codings", "gzip"),
    ]
  }
}
