import PawlCache
import PawlHTTP
import PawlWire

/// What `log-level = debug` says about the response of the origin.
extension CollapsedFetch {
  /// Notes whether the response is stored and for whom, and by which proof it could be resumed.
  func explain(_ storability: Storability, _ head: ResponseHead, _ framing: BodyFraming) {
    request.explain("store", Self.text(storability))
    request.explain("resumable", resumability(head, framing))
  }

  private static func text(_ storability: Storability) -> String {
    switch storability {
    case .shared: "for all requests"
    case .sharedPerCookie: "for requests with the same cookies"
    case .sharedOnceConfirmed: "for requests to which the origin confirms its tag, because it sets a cookie"
    case .privately: "for its own user alone (resume-private)"
    case .no(let reason): "no: \(reason.rule)"
    }
  }

  private func resumability(_ head: ResponseHead, _ framing: BodyFraming) -> String {
    guard head.status == 200 else { return "no: the status is \(head.status)" }
    if LiveStream.isOne(head.fields) { return "no: an event stream" }
    let identity = RepresentationIdentity(
      head: head, framing: framing, receivedAt: downloads.services.loop.wallSeconds)
    if identity.strongValidator != nil {
      return "by a range with If-Range: it has a strong validator (RFC 9110 §13.1.5)"
    }
    return "by a replay that is compared: it has no strong validator (RFC 9110 §8.8.1)"
  }
}
