import PawlHTTP

/// The body of a refusal, in a form that programs can read (RFC 9457).
struct ProblemDetails {
  /// The registered types (UploadProtocols, "Problem types").
  enum Kind: String {
    case mismatchingOffset = "https://iana.org/assignments/http-problem-types#mismatching-upload-offset"
    case inconsistentLength = "https://iana.org/assignments/http-problem-types#inconsistent-upload-length"
    case completedUpload = "https://iana.org/assignments/http-problem-types#completed-upload"
    /// For problems without a registered type; the status says enough.
    case blank = "about:blank"
  }

  static let mediaType = "application/problem+json"

  var kind = Kind.blank
  var title: StaticSentence
  var status: Int
  var detail: StaticSentence?
  /// Further members of the problem; their values are numbers of bytes.
  var numbers: [(name: String, value: UInt64)] = []

  /// The problem as JSON.
  var body: [UInt8] {
    var members = ["\"type\":\(Self.quoted(kind.rawValue))", "\"title\":\(Self.quoted(title.text))"]
    members.append("\"status\":\(status)")
    if let detail { members.append("\"detail\":\(Self.quoted(detail.text))") }
    for (name, value) in numbers { members.append("\(Self.quoted(name)):\(value)") }
    return Array("{\(members.joined(separator: ","))}\n".utf8)
  }

  /// Returns a JSON string (RFC 8259 §7).
  private static func quoted(_ text: String) -> String {
    var output = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": output += "\\\""
      case "\\": output += "\\\\"
      case "\u{0}"..<"\u{20}": output += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: output.unicodeScalars.append(scalar)
      }
    }
    return output + "\""
  }
}
