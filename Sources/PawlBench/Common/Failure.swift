/// The reason why an operation failed. Its description is its name in reports.
enum Failure: Hashable, Sendable, CustomStringConvertible {
  /// The connection could not be opened.
  case connect
  case handshake
  /// Nothing was received or sent for the time of `--timeout`.
  case timeout
  case status(Int)
  /// The connection ended within or before the response.
  case cut
  /// A byte of content differs from the reference.
  case content
  case length
  /// `Content-Range` is missing, or differs from the request.
  case range
  /// The response is not HTTP, or violates the rules of HTTP.
  case syntax
  /// The server did not send the URL of the upload, so it does not support this upload protocol.
  case uploadURL
  /// The offset of an upload is missing, larger than what was sent, or smaller than an earlier offset.
  case offset
  /// The last response does not confirm that the upload is complete.
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
