import PawlDisk
import PawlHTTP
import PawlObserve

extension FailureLog {
  /// The origin gave no usable answer, and the client was told so. Why its TLS fails is told of elsewhere.
  func note(_ error: ProxyError, _ request: IncomingRequest) {
    guard !error.kind.isTLS,
      let unsaid = due("\(request.route.upstreamName) \(error.kind.rawValue) \(error.details ?? "")")
    else { return }
    events.log(
      .warning, "origin-failed",
      [
        "upstream": request.route.upstreamName, "error": error.kind.rawValue, "why": error.details ?? "-",
        "status": "\(error.status)", "request": String(decoding: request.requestID, as: UTF8.self),
        "unsaid": "\(unsaid)",
      ])
  }

  /// An upload was refused for want of room, or because the disk failed.
  func noteUpload(_ why: String, _ request: IncomingRequest) {
    guard let unsaid = due("\(request.route.upstreamName) upload \(why)") else { return }
    events.log(
      .warning, "upload-refused",
      [
        "upstream": request.route.upstreamName, "why": why,
        "client": request.clientAddress.text,
        "request": String(decoding: request.requestID, as: UTF8.self), "unsaid": "\(unsaid)",
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
