import PawlDisk
import PawlHTTP
import PawlObserve

extension FailureLog {
  /// Logs that the origin gave no usable response. TLS errors are logged by ``OriginFailureLog``.
  func note(_ error: ProxyError, _ request: IncomingRequest) {
    guard !error.kind.isTLS else { return }
    log(
      .warning, "origin-failed",
      of: "\(request.route.upstreamName) \(error.kind.rawValue) \(error.details ?? "")",
      [
        "upstream": request.route.upstreamName, "error": error.kind.rawValue, "why": error.details ?? "-",
        "status": "\(error.status)", "request": request.idText,
      ])
  }

  /// Logs that clients are turned away at the limit of connections.
  /// - Parameter limit: the limit (`max-connections`).
  func noteRefused(limit: Int) {
    log(.warning, "connections-refused", of: "connections", ["max-connections": "\(limit)"])
  }

  /// Logs why a connection could not be accepted.
  func noteAccept(_ why: String) {
    log(.warning, "accept-failed", of: "accept \(why)", ["why": why])
  }

  /// Logs that an upload was refused because there is no space or the disk failed.
  func noteUpload(_ why: String, _ request: IncomingRequest) {
    log(
      .warning, "upload-refused", of: "\(request.route.upstreamName) upload \(why)",
      [
        "upstream": request.route.upstreamName, "why": why, "client": request.clientAddress.text,
        "request": request.idText,
      ])
  }
}

extension ProxyError.Kind {
  fileprivate var isTLS: Bool {
    switch self {
    case .tlsProtocolError, .tlsCertificateError, .tlsAlertReceived: true
    default: false
    }
  }
}
