import PawlBase
import PawlCache
import PawlHTTP
import PawlUpstream

/// The request that continues a body after a break.
enum ResumptionRequest {
  /// - Parameters:
  ///   - base: the head of the first request. Its range and conditions are removed. Instead, a validator or a comparison ties the new
  ///     request to the bytes of the first response.
  ///   - end: the exclusive end of the wanted span; `nil`: the end of the body.
  static func head(
    _ base: RequestHead, _ decision: ResumeDecision, through end: UInt64?, of identity: RepresentationIdentity?
  ) -> RequestHead {
    var head = base
    head.fields.removeAll(anyOf: conditions)
    guard case .askForRest(let from, _, let validator) = decision else { return head }
    var range = Array("bytes=".utf8)
    range.append(decimal: from)
    range.append(0x2d)
    if let end, end != identity?.total { range.append(decimal: end - 1) }
    head.fields.set(.range, range)
    head.fields.set(.ifRange, validator)
    // Offsets count bytes of the content coding in which the first response came. If it had a coding, the client's own Accept-Encoding is
    // sent again.
    if identity?.contentEncoding == nil { head.fields.set(.acceptEncoding, "identity") }
    return head
  }

  private static let conditions = FieldNameSet(OriginRequests.conditions)
}

extension OriginFetch {
  /// Accepts the content of a response that is not stored. After a break the content is continued only if it can be proven that newly
  /// fetched bytes are the missing ones.
  func acceptUnstored(
    _ head: ResponseHead, _ framing: BodyFraming, _ resumability: Resumability, receivedAt now: Int64
  ) {
    switch resumability {
    case .whole: accept(FirstResponse(head, framing, receivedAt: now), from: 0, through: nil)
    case .part(let part):
      var identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
      identity.total = part.total
      accept(FirstResponse(identity), from: part.range.first, through: part.range.end)
    case .never: accept(FirstResponse.final, from: 0, through: nil)
    }
  }
}

extension AttemptEnding {
  /// Classifies a failure of the exchange with the origin.
  init(_ failure: OriginFailure) {
    switch failure.error.kind {
    case _ where !failure.requestBytesSent: self = .notBegun
    case .connectionReadTimeout, .connectionWriteTimeout, .httpResponseTimeout: self = .tookTooLong
    default: self = .brokeOff
    }
  }

  /// Classifies a response that does not continue the content. 429 and 503 mean that a later request may succeed.
  init(status: Int) { self = status == 429 || status == 503 ? .notBegun : .brokeOff }
}
