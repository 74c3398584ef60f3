import PawlHTTP
import PawlUpload

/// Messages of the drafts for tests, written as on the wire.
enum Draft {
  static let versions: [InteropVersion] = (3...10).compactMap(InteropVersion.init(number:)) + [.final, .unversioned]
  static let location = Array("https://example.org/.pawl/uploads/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".utf8)
  static let token = String(repeating: "A", count: 32)

  static func version(_ number: Int) -> InteropVersion {
    switch number {
    case 11: .final
    case 12: .unversioned
    default: InteropVersion(number: number) ?? .final
    }
  }

  static func fields(_ text: String) -> Fields {
    var fields = Fields()
    for line in text.split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = Bytes(String(line[line.index(after: colon)...])).trimmed
      fields.append(named: String(line[..<colon]).utf8, value)
    }
    return fields
  }

  /// `"PATCH /target"` and lines of fields. The framing is that of the `Content-Length` or `Transfer-Encoding` line.
  static func request(_ line: String, _ lines: String = "") -> RequestHead {
    let words = line.split(separator: " ").map(String.init)
    let fields = fields(lines)
    var framing = BodyFraming.none
    if let length = fields.first(.contentLength)?.strictDecimal { framing = .length(length) }
    if fields.contains(.transferEncoding) { framing = .chunked }
    return RequestHead(
      method: Method(words[0].utf8), target: Bytes(words[1]), authority: Bytes("example.org"), fields: fields,
      framing: framing)
  }

  /// As a status and lines, for comparing whole heads.
  static func text(_ head: ResponseHead?) -> String {
    guard let head else { return "nothing" }
    let lines = head.fields.lines.map { "\(head.fields.name($0).text): \(head.fields.value($0).text)" }
    return ([String(head.status)] + lines).joined(separator: "\n")
  }

  /// How a version spells completeness.
  static func completeness(_ version: InteropVersion, _ isComplete: Bool) -> String {
    version.number == 3
      ? "Upload-Incomplete: \(isComplete ? "?0" : "?1")" : "Upload-Complete: \(isComplete ? "?1" : "?0")"
  }

  /// The line that echoes the version, where there is one.
  static func echo(_ version: InteropVersion) -> [String] {
    version.number <= 10 ? ["Upload-Draft-Interop-Version: \(version.number)"] : []
  }

  static let shield = ["Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer"]
}
