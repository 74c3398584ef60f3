import PawlBase
import PawlCache
import PawlHTTP
import PawlUpstream

/// The request that goes on with a body after a break.
enum ResumptionRequest {
  /// - Parameters:
  ///   - base: the request that was answered first. Its range and conditions were about that answer; what is asked now is
  ///     tied to the bytes that came with it, by a validator or by comparing them.
  ///   - end: of the span that is wanted, exclusive; `nil`: all.
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
    // Bytes are counted in the coding they came in: what chose that one chooses it again.
    if identity?.contentEncoding == nil { head.fields.set(.acceptEncoding, "identity") }
    return head
  }

  private static let conditions = FieldNameSet(OriginRequests.conditions)
}

extension OriginFetch {
  /// Takes the content of an answer that is not kept, and goes on with it after a break only where bytes that are asked
  /// for anew can be proven to be those that are missing.
  /// - Parameter receivedAt: wall clock, seconds since 1970.
  func acceptUnkept(
    _ head: ResponseHead, _ framing: BodyFraming, _ resumability: Resumability, receivedAt now: Int64
  ) {
    switch resumability {
    case .whole: accept(FirstAnswer(head, framing, receivedAt: now), from: 0, through: nil)
    case .part(let part):
      var identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
      identity.total = part.total
      accept(FirstAnswer(identity), from: part.range.first, through: part.range.end)
    case .never: accept(FirstAnswer.final, from: 0, through: nil)
    }
  }
}

extension AttemptEnding {
  /// As the exchange with the origin tells it.
  init(_ failure: OriginFailure) {
    switch failure.error.kind {
    case _ where !failure.requestBytesSent: self = .notBegun
    case .connectionReadTimeout, .connectionWriteTimeout, .httpResponseTimeout: self = .tookTooLong
    default: self = .brokeOff
    }
  }

  /// An answer that is none to go on with, and says that it may be another one later.
  init(status: Int) { self = status == 429 || status == 503 ? .notBegun : .brokeOff }
}
