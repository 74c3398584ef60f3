import PawlHTTP

/// Makes refusals in the drafts: a status, a problem (RFC 9457) and, if there is an upload, its offset (UploadProtocols, "Problem
/// types").
extension IETFDialect {
  static func refusal(
    _ refusal: UploadRefusal, _ version: InteropVersion, _ status: UploadFacts?, _ limits: UploadLimits
  ) -> UploadReply {
    let problem = problem(refusal, version, offset: status?.offset)
    var head = own(problem.status, version, isComplete: refusal == .outcomeUnknown)
    if let status, tellsOffset(refusal, status) { head.fields.append(offset: status.offset) }
    for (name, value) in further(refusal) { head.fields.append(name, value) }
    if isOfLimits(refusal) { head.fields.append(limits, version) }
    if refusal == .wrongMediaType { head.fields.append(named: acceptPatchField, appendType.utf8) }
    head.fields.append(.contentType, ProblemDetails.mediaType)
    return UploadReply(head, body: problem.body)
  }

  /// Whether the response has the offset, which is a promise that the upload can be continued from there.
  private static func tellsOffset(_ refusal: UploadRefusal, _ status: UploadFacts) -> Bool {
    status.phase.isLive && refusal != .notFound && refusal != .gone && refusal != .tooLong
  }

  private static func isOfLimits(_ refusal: UploadRefusal) -> Bool {
    switch refusal {
    case .tooLarge, .noSpace, .tooManyUploads, .inconsistentLength, .tooLong: true
    default: false
    }
  }

  private static func further(_ refusal: UploadRefusal) -> [(FieldName, String)] {
    switch refusal {
    case .noSpace(let seconds), .tooManyUploads(let seconds), .undecided(let seconds), .originSilent(let seconds):
      [(.retryAfter, "\(max(seconds, 0))")]
    case .storage: [(.retryAfter, "5")]
    case .ending: [(.retryAfter, "1")]
    case .methodNotAllowed: [(.allow, "GET, HEAD, PATCH, DELETE, OPTIONS")]
    default: []
    }
  }

  private static func problem(
    _ refusal: UploadRefusal, _ version: InteropVersion, offset: UInt64?
  ) -> ProblemDetails {
    switch refusal {
    case .malformed(let sentence):
      ProblemDetails(title: "The request cannot be understood", status: 400, detail: sentence)
    case .unsupportedTusVersion: ProblemDetails(title: "Not a version of tus that is spoken here", status: 412)
    case .notFound: ProblemDetails(title: "No such upload", status: 404)
    case .gone: ProblemDetails(title: "The upload is gone", status: 410)
    case .wrongOffset(let provided):
      ProblemDetails(
        kind: .mismatchingOffset, title: "The upload goes on elsewhere", status: 409,
        numbers: (offset.map { [("expected-offset", $0)] } ?? []) + [("provided-offset", provided)])
    case .wrongMediaType:
      ProblemDetails(
        title: "Not the media type of an append", status: 415, detail: "Content-Type: application/partial-upload")
    case .inconsistentLength:
      ProblemDetails(kind: .inconsistentLength, title: "The lengths contradict each other", status: 400)
    case .tooLong:
      ProblemDetails(
        kind: .inconsistentLength, title: "The content exceeds the length of the upload", status: 400)
    case .alreadyComplete:
      ProblemDetails(
        kind: version.namesCompletedUpload ? .completedUpload : .blank, title: "The upload is complete",
        status: version.completedUploadStatus)
    case .digestMismatch:
      ProblemDetails(title: "The content is not what its digest says", status: 400)
    case .unknownDigest: ProblemDetails(title: "The digest's algorithm is not known here", status: 400)
    case .modifiesFinal: ProblemDetails(title: "A concatenation takes no content", status: 403)
    case .answerIsAnothers:
      ProblemDetails(
        title: "The answer is for other credentials", status: 403,
        detail: "The upload is complete. Its answer is given to the credentials that it was created or delivered with.")
    case .unfinishedPart: ProblemDetails(title: "A part is not complete", status: 400)
    case .methodNotAllowed: ProblemDetails(title: "Not a method for an upload", status: 405)
    case .tooLarge, .noSpace, .tooManyUploads, .undecided, .outcomeUnknown, .originSilent, .storage, .ending:
      ofServer(refusal)
    }
  }

  /// Returns the problem for refusals whose cause is pawl, the origin, or the size of the upload.
  private static func ofServer(_ refusal: UploadRefusal) -> ProblemDetails {
    switch refusal {
    case .tooLarge: ProblemDetails(title: "The upload is larger than is taken here", status: 413)
    case .noSpace:
      ProblemDetails(
        title: "No room for more at the moment", status: 507, detail: "What was received is kept; go on later.")
    case .tooManyUploads: ProblemDetails(title: "Too many uploads at once", status: 429)
    case .undecided:
      ProblemDetails(
        title: "The server behind this proxy has not answered yet", status: 503,
        detail: "All bytes are here and safe. Ask again later with an empty append that completes the upload.")
    case .originSilent: ProblemDetails(title: "The server behind this proxy has not answered yet", status: 503)
    case .outcomeUnknown:
      ProblemDetails(
        title: "The outcome of the upload is not known", status: 502,
        detail: """
          The server behind this proxy may have got the request, and no answer to the whole of it came. It may have \
          acted on it: look before you send it again.
          """)
    case .ending:
      ProblemDetails(
        title: "The proxy restarts", status: 503, detail: "What was received is kept; go on from the offset.")
    default:
      ProblemDetails(
        title: "The upload could not be stored", status: 503, detail: "What was acknowledged is kept; go on later.")
    }
  }
}
