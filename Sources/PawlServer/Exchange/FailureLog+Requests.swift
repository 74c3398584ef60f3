import PawlDisk
import PawlHTTP
import PawlObserve

extension FailureLog {
  /// Logs that the origin gave no usable response. TLS errors are logged by ``OriginFailureLog``.
  func note(_ error: ProxyError, _ request: IncomingRequest) {
    guard !error.kind.isTLS,
      let omitted = due("\(request.route.upstreamName) \(error.kind.rawValue) \(error.details ?? "")")
    else { return }
    events.log(
      .warning, "origin-failed",
      [
        "upstream": request.route.upstreamName, "error": error.kind.rawValue, "why": error.details ?? "-",
        "status": "\(error.status)", "request": String(decoding: request.requestID, as: UTF8.self),
        "omitted": "\(omitted)",
      ])
  }

  /// Logs that clients are turned away at the limit of connections.
  /// - Parameter limit: the limit (`max-connections`).
  func noteRefused(limit: Int) {
    guard let omitted = due("connections") else { return }
    events.log(.warning, "connections-refused", ["max-connections": "\(limit)", "omitted": "\(omitted)"])
  }

  /// Logs why a connection could not be accepted.
  func noteAccept(_ why: String) {
    guard let omitted = due("accept \(why)") else { return }
    events.log(.warning, "accept-failed", ["why": why, "omitted": "\(omitted)"])
  }

  /// Logs that an upload was refused because there is no space or the disk failed.
  func noteUpload(_ why: String, _ request: IncomingRequest) {
    guard let omitted = due("\(request.route.upstreamName) upload \(why)") else { return }
    events.log(
      .warning, "upload-refused",
      [
        "upstream": request.route.upstreamName, "why": why,
        "client": request.clientAddress.text,
        "request": String(decoding: request.requestID, as: UTF8.self), "omitted": "\(omitted)",
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
