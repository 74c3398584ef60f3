/// The kind of a section: the text in brackets, up to its name.
enum SectionKind: String, CaseIterable {
  case pawl, listen, tls, cache, spool, upstream, site, route, admin, include

  var takesName: Bool {
    switch self {
    case .pawl, .admin, .include: false
    case .listen, .tls, .cache, .spool, .upstream, .site, .route: true
    }
  }

  /// The form of the header of a section of this kind.
  var form: String {
    switch self {
    case .pawl, .admin, .include: "[\(rawValue)]"
    case .route: "[route:SITE/NAME]"
    case .listen, .tls, .cache, .spool, .upstream, .site: "[\(rawValue):NAME]"
    }
  }

  /// The names of the keys that a section of this kind has.
  var keyNames: [String] {
    switch self {
    case .pawl: ProcessSettings.keys.map(\.name)
    case .listen: ListenerSettings.keys.map(\.name)
    case .tls: TLSSettings.keys.map(\.name)
    case .cache: CacheSettings.keys.map(\.name)
    case .spool: SpoolSettings.keys.map(\.name)
    case .upstream: UpstreamSection.keys.map(\.name)
    case .site: SiteSection.keys.map(\.name)
    case .route: RouteSection.keys.map(\.name)
    case .admin: AdminSettings.keys.map(\.name)
    case .include: ["files"]
    }
  }
}

extension SectionKind {
  /// The kinds whose sections have a key of this name.
  static func homes(of key: String) -> [SectionKind] { allCases.filter { $0.keyNames.contains(key) } }

  /// The forms of these kinds, such as `[site:NAME] or [route:SITE/NAME]`.
  static func list(_ kinds: [SectionKind]) -> String {
    let forms = kinds.map(\.form)
    guard forms.count > 1 else { return forms.first ?? "" }
    return forms.dropLast().joined(separator: ", ") + " or " + (forms.last ?? "")
  }
}

/// The label of a section, `[kind]` or `[kind:name]`, after its check.
struct SectionLabel: Hashable {
  var kind: SectionKind
  /// The name of the section. Empty for kinds without a name; `SITE/NAME` for routes.
  var name: String

  var text: String { name.isEmpty ? kind.rawValue : "\(kind.rawValue):\(name)" }

  init(_ kind: SectionKind, _ name: String = "") { (self.kind, self.name) = (kind, name) }

  init(_ text: String) throws(BadValue) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let kindText = String(trimmed(parts.first ?? ""))
    let name = parts.count == 2 ? String(trimmed(parts[1])) : nil
    guard let kind = SectionKind(rawValue: kindText) else {
      if let answer = ForeignWords.answer(toSection: kindText) { throw BadValue(answer.message) }
      let near = nearestMatch(kindText, among: SectionKind.allCases.map(\.rawValue))
      throw BadValue("unknown section", suggestion: near.map { kind in name.map { "\(kind):\($0)" } ?? kind })
    }
    if !kind.takesName {
      if name != nil { throw BadValue("expected \(kind.form): there is only one", suggestion: kind.rawValue) }
      (self.kind, self.name) = (kind, "")
      return
    }
    guard let name, Self.isValid(name, for: kind) else {
      let rule = "letters, digits, \".\", \"_\" and \"-\" make a name"
      throw BadValue(
        "expected \(kind.form); \(rule)", suggestion: name == nil && kind != .route ? "\(kind.rawValue):default" : nil)
    }
    (self.kind, self.name) = (kind, name)
  }

  private static func isValid(_ name: String, for kind: SectionKind) -> Bool {
    guard kind == .route else { return isName(name) }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { isName(String($0)) }
  }

  static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 46 || $0 == 95
      }
  }
}

/// A section as it was written. The values of its entries are still texts.
struct Section {
  var label: SectionLabel
  var origin: ValueOrigin
  var entries = [Entry]()
  /// The keys whose value was already refused. These keys are not reported as missing.
  var refused = Set<String>()
}
