/// Why an operation did not end well; the words of the report.
enum Failure: Hashable, Sendable, CustomStringConvertible {
  /// No connection came about.
  case connect
  case handshake
  /// Nothing came for the time of `--timeout`.
  case timeout
  case status(Int)
  /// The connection ended inside the answer, or before it.
  case cut
  /// A byte of content is not what the reference says.
  case content
  case length
  /// `Content-Range` is missing, or not what was asked for.
  case range
  /// What came is no HTTP, or breaks its rules.
  case syntax
  /// Nobody told where the upload can be taken up again: the server does not speak this protocol.
  case uploadURL
  /// The offset of an upload is missing, more than was sent, or less than was told before.
  case offset
  /// The last answer does not say that the upload is complete.
  case incomplete

  var description: String {
    switch self {
    case .connect: "connect"
    case .handshake: "tls"
    case .timeout: "timeout"
    case .status(let code): "status \(code)"
    case .cut: "cut"
    case .content: "wrong-content"
    case .length: "wrong-length"
    case .range: "wrong-range"
    case .syntax: "protocol"
    case .uploadURL: "no-upload-url"
    case .offset: "wrong-offset"
    case .incomplete: "not-complete"
    }
  }
}
