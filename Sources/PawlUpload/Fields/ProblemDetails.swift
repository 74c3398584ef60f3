import PawlBase
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
    var json = JSONWriter()
    json.object {
      $0.member("type", kind.rawValue)
      $0.member("title", title.text)
      $0.member("status", status)
      if let detail { $0.member("detail", detail.text) }
      for (name, value) in numbers { $0.member(name, value) }
    }
    return json.line
  }
}
