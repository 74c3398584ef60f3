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
  /// An octet of content is not what the reference says.
  case content
  case length
  /// `Content-Range` is missing, or not what was asked for.
  case range
  /// What came is no HTTP, or breaks its rules.
  case syntax
  /// An upload's offset, URL or answer is missing or not what it must be.
  case upload

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
    case .upload: "upload"
    }
  }
}
