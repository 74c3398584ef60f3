package import PawlHTTP

/// The settings that an operator may add so that responses like this one can be resumed.
package struct ResumeAdvice: Hashable, Sendable {
  /// Why the response cannot be resumed, as a word for the event log.
  package let why: String
  /// The configuration keys of the route with their values, as in the configuration file.
  package let lines: [String]

  /// The smallest length of a download, in bytes. A shorter body is simply fetched again.
  package static let leastLength: UInt64 = 1 << 20

  /// - Parameters:
  ///   - request: the request as it was sent to the origin, without range and conditions.
  ///   - storability: what was decided about the response.
  /// - Returns: `nil` where the response can be resumed already, is no download, or no setting would help.
  package init?(
    _ answer: ResponseHead, framing: BodyFraming, to request: RequestHead, storability: Storability,
    policy: CachePolicy
  ) {
    guard request.method == .get, Self.concerns(answer, framing) else { return nil }
    let control = ResponseDirectives(answer.fields).cacheControl
    switch storability {
    case .shared, .sharedPerCookie, .sharedOnceConfirmed:
      let validators = Validators(answer.fields, receivedAt: 0)
      guard validators.tag == nil, validators.lastModified == nil, control.noCache || control.mustRevalidate,
        policy.resumeTTL > 0, !policy.resumeTTLNoCache
      else { return nil }
      (why, lines) = (control.noCache ? "no-cache" : "must-revalidate", ["resume-ttl-no-cache = on"])
    case .privately: return nil
    case .no(let reason):
      let kept = policy.resumePrivate == nil ? ["resume-private = 15m"] : []
      switch reason {
      case .isPrivate, .authorization, .userByDate, .varyStar, .setCookie: lines = kept
      case .noStore: lines = policy.resumePrivateNoStore ? kept : kept + ["resume-private-no-store = on"]
      case .requestNoStore, .method, .status, .liveStream, .tooLarge, .noFreshness, .conditional, .override: return nil
      }
      guard !lines.isEmpty else { return nil }
      why = reason.rawValue
    }
  }

  private static let disposition = FieldNameSet([.contentDisposition])

  /// Whether a response is a download. This part of the check is cheap.
  package static func concerns(_ answer: borrowing ResponseHead, _ framing: BodyFraming) -> Bool {
    guard answer.status == 200 else { return false }
    if case .length(let length) = framing, length >= leastLength { return true }
    guard answer.fields.mayContain(anyOf: disposition) else { return false }
    return answer.fields.only(.contentDisposition)?.trimmed.prefix(10).equalsIgnoringCase("attachment") ?? false
  }
}
