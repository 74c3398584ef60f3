import PawlBase
import PawlConfig

extension FuzzTarget {
  /// The configuration: any file is either used, or refused with mistakes that name a line of it.
  static let configuration = [
    FuzzTarget(name: "ini", run: ini), FuzzTarget(name: "values", run: values),
    FuzzTarget(name: "access-format", run: accessFormat),
  ]

  @Sendable private static func ini(_ bytes: [UInt8]) {
    // Includes and ${file:…} read the same text, so that loops of them are tried, too.
    let surroundings = Surroundings(
      environment: { $0 == "PORT" ? "8080" : nil },
      readFile: { $0.hasSuffix("missing") ? .failure(FileProblem(reason: "no such file")) : .success(bytes) },
      listFiles: { $0.contains("*") ? ["/etc/pawl/a.ini", "/etc/pawl/b.ini"] : [] }, isRoot: true)
    let count = bytes.count { $0 == 0x0a } + 1
    do {
      let configuration = try ConfigurationLoader.load(path: "/etc/pawl/pawl.ini", surroundings: surroundings)
      let text = ConfigurationReport.effective(configuration)
      if text.isEmpty { breach("a configuration without content") }
      for site in configuration.sites { _ = site.settings(forPath: Array("/a/b".utf8)[...]) }
    } catch {
      if !error.issues.contains(where: { $0.severity == .error }) { breach("refused without a mistake") }
      for issue in error.issues {
        if issue.message.isEmpty { breach("an empty message") }
        guard case .file(_, let line) = issue.origin else { continue }
        if line < 0 || line > count { breach("line \(line) of \(count)") }
      }
    }
  }

  @Sendable private static func values(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let url = OriginURL(text), OriginURL("\(url)") == nil { breach("\(url), read again, is no URL") }
    if let network = NetworkAddress(text) { _ = "\(network)" }
    if let time = Quantity.time(text), time < .zero { breach("a time of \(time)") }
  }

  @Sendable private static func accessFormat(_ bytes: [UInt8]) {
    do {
      _ = try AccessFormat(String(decoding: bytes, as: UTF8.self))
    } catch {
      if "\(error)".isEmpty { breach("an empty message") }
    }
  }
}
