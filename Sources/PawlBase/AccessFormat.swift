/// The format of lines of the access log, as the operator writes it: text with nginx's variables, `$remote_addr [$time_local]`.
/// Parsed once, into a table.
package struct AccessFormat: Hashable, Sendable {
  /// How values are escaped (nginx's `escape=`).
  package enum Escaping: String, CaseIterable, Hashable, Sendable {
    /// `\xHH` for `"`, `\`, control characters and bytes beyond ASCII; `-` for a missing value.
    case plain = "default"
    /// As in a string of JSON; nothing for a missing value.
    case json
    /// Not at all but for control characters (`\xHH`), which could forge a line; nothing for a missing value.
    case none
  }

  package enum Piece: Hashable, Sendable {
    /// A range of ``text``.
    case text(Range<Int>)
    case variable(AccessVariable)
    /// Index of a name in ``requestFields``: `$http_NAME`.
    case requestField(Int)
    /// Index of a name in ``responseFields``: `$sent_http_NAME`.
    case responseField(Int)
  }

  /// Why a format cannot be used.
  package enum Mistake: Error, Hashable, Sendable {
    /// No such variable.
    case unknown(String)
    /// A variable whose values are secret, such as `$http_authorization`.
    case secret(String)
    /// A `$` without a name, or a quotation mark without its end.
    case malformed(String)
  }

  /// The format as it is written in the configuration.
  package let source: String
  package private(set) var escaping = Escaping.plain
  package private(set) var text: [UInt8] = []
  package private(set) var pieces: [Piece] = []
  /// Names of fields, in small letters with hyphens.
  package private(set) var requestFields: [String] = []
  package private(set) var responseFields: [String] = []
  /// Whether a variable is among the pieces that only few formats have (``AccessVariable/isExtra``), or a field.
  package private(set) var hasExtras = false

  /// Fields whose values no log shows, and the ends of the names of further ones.
  private static let secrets: Set<String> = [
    "authorization", "proxy-authorization", "authentication-info", "proxy-authentication-info", "cookie", "set-cookie",
    "api-key", "apikey", "token", "secret", "password", "sec-websocket-protocol", "cf-access-jwt-assertion",
    "x-goog-iap-jwt-assertion", "x-amzn-oidc-data", "x-amzn-oidc-accesstoken",
  ]
  private static let secretEnds = ["-authorization", "-token", "-secret", "-password", "-api-key", "-apikey"]

  private static func isSecret(_ field: String) -> Bool {
    secrets.contains(field) || secretEnds.contains { field.hasSuffix($0) }
  }

  package init(_ source: String) throws(Mistake) {
    self.source = source
    var rest = source[...]
    if rest.hasPrefix("escape=") {
      let word = rest.dropFirst("escape=".count).prefix { $0 != " " && $0 != "\t" }
      guard let escaping = Escaping(rawValue: String(word)) else { throw .malformed("escape=\(word)") }
      self.escaping = escaping
      rest = rest[word.endIndex...].drop { $0 == " " || $0 == "\t" }
    }
    try parse(Array(try Self.unquoted(rest).utf8))
  }

  /// Returns the text without the quotation marks of nginx: `'one' 'two'` is `onetwo`. A text that does not begin with a mark is
  /// returned as it is.
  private static func unquoted(_ text: Substring) throws(Mistake) -> String {
    guard let first = text.first, first == "'" || first == "\"" else { return String(text) }
    var (result, rest) = ("", text)
    while let mark = rest.first {
      guard mark == "'" || mark == "\"" else { throw .malformed(String(rest)) }
      rest = rest.dropFirst()
      while let character = rest.first, character != mark {
        rest = rest.dropFirst()
        if character == "\\", let next = rest.first, next == mark || next == "\\" || next == "t" {
          result.append(next == "t" ? "\t" : next)
          rest = rest.dropFirst()
        } else {
          result.append(character)
        }
      }
      guard rest.first == mark else { throw .malformed("\(mark) without its end") }
      rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
    }
    return result
  }

  private mutating func parse(_ bytes: [UInt8]) throws(Mistake) {
    var position = 0
    var start = 0
    func isOfName(_ byte: UInt8) -> Bool {
      (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
    }
    while position < bytes.count {
      guard bytes[position] == 0x24 else {
        position += 1
        continue
      }
      add(text: bytes[start..<position])
      let hasBraces = position + 1 < bytes.count && bytes[position + 1] == 0x7b
      let first = position + (hasBraces ? 2 : 1)
      let name = bytes[first...].prefix(while: isOfName)
      position = name.endIndex
      if hasBraces {
        guard position < bytes.count, bytes[position] == 0x7d else { throw .malformed("${") }
        position += 1
      }
      guard !name.isEmpty else { throw .malformed("$") }
      try add(variable: String(decoding: name, as: UTF8.self))
      start = position
    }
    add(text: bytes[start...])
  }

  private mutating func add(text added: ArraySlice<UInt8>) {
    guard !added.isEmpty else { return }
    pieces.append(.text(text.count..<text.count + added.count))
    text += added
  }

  private mutating func add(variable name: String) throws(Mistake) {
    if let variable = AccessVariable(rawValue: name) {
      hasExtras = hasExtras || variable.isExtra
      return pieces.append(.variable(variable))
    }
    if name.hasPrefix("sent_http_") {
      let index = try Self.index(of: name, after: "sent_http_", in: &responseFields)
      pieces.append(.responseField(index))
    } else if name.hasPrefix("http_") {
      pieces.append(.requestField(try Self.index(of: name, after: "http_", in: &requestFields)))
    } else {
      throw .unknown(name)
    }
    hasExtras = true
  }

  private static func index(
    of name: String, after prefix: String, in fields: inout [String]
  ) throws(Mistake) -> Int {
    let field = String(name.dropFirst(prefix.count).lowercased().map { $0 == "_" ? "-" : $0 })
    guard !field.isEmpty else { throw .unknown(name) }
    guard !isSecret(field) else { throw .secret(name) }
    if let known = fields.firstIndex(of: field) { return known }
    fields.append(field)
    return fields.count - 1
  }
}
