import PawlHTTP

/// Makes refusals in tus: a status and a sentence (UploadProtocols, "tus status codes").
extension TusDialect {
  static func refusal(_ refusal: UploadRefusal, _ status: UploadFacts?, _ limits: UploadLimits) -> UploadReply {
    let (code, reason) = line(refusal)
    var head = own(code, reason)
    for (name, value) in further(refusal, limits) { head.fields.append(named: name.utf8, value.utf8) }
    if let status, tellsOffset(refusal), status.phase == .open, !status.isConcatFinal {
      head.fields.append(offset: status.offset)
    }
    head.fields.append(.contentType, "text/plain; charset=utf-8")
    return UploadReply(head, body: Array("\(sentence(refusal))\n".utf8))
  }

  private static func line(_ refusal: UploadRefusal) -> (Int, StaticString) {
    switch refusal {
    case .malformed, .inconsistentLength, .alreadyComplete, .unknownDigest, .unfinishedPart: (400, "Bad Request")
    case .modifiesFinal, .answerIsAnothers: (403, "Forbidden")
    case .notFound: (404, "Not Found")
    case .methodNotAllowed: (405, "Method Not Allowed")
    case .wrongOffset: (409, "Conflict")
    case .gone: (410, "Gone")
    case .unsupportedTusVersion: (412, "Precondition Failed")
    case .tooLong, .tooLarge: (413, "Content Too Large")
    case .wrongMediaType: (415, "Unsupported Media Type")
    case .undecided, .outcomeUnknown: (423, "Locked")
    case .tooManyUploads: (429, "Too Many Requests")
    case .digestMismatch: (460, "Checksum Mismatch")
    case .storage, .originSilent, .ending: (503, "Service Unavailable")
    case .noSpace: (507, "Insufficient Storage")
    }
  }

  private static func further(_ refusal: UploadRefusal, _ limits: UploadLimits) -> [(String, String)] {
    switch refusal {
    case .unsupportedTusVersion: [("Tus-Version", TusVersion.spoken)]
    case .unknownDigest: [("Tus-Checksum-Algorithm", checksumAlgorithms)]
    case .methodNotAllowed: [("Allow", "GET, HEAD, POST, PATCH, DELETE, OPTIONS")]
    case .wrongMediaType: [("Accept-Patch", "application/offset+octet-stream")]
    case .tooLarge: limits.maxSize.map { [("Tus-Max-Size", "\($0)")] } ?? []
    case .noSpace(let seconds), .tooManyUploads(let seconds), .undecided(let seconds), .originSilent(let seconds):
      [("Retry-After", "\(max(seconds, 0))")]
    case .outcomeUnknown: [("Retry-After", "60")]
    case .storage: [("Retry-After", "5")]
    case .ending: [("Retry-After", "1")]
    default: []
    }
  }

  /// Whether the response has the offset, from which a client continues when it tries again.
  private static func tellsOffset(_ refusal: UploadRefusal) -> Bool {
    switch refusal {
    case .wrongOffset, .noSpace, .storage, .ending, .digestMismatch, .unknownDigest: true
    default: false
    }
  }

  private static func sentence(_ refusal: UploadRefusal) -> String {
    switch refusal {
    case .malformed(let sentence): sentence.text
    case .unsupportedTusVersion: "Version \(TusVersion.spoken) of tus is spoken here, and no other."
    case .notFound: "There is no such upload."
    case .gone: "The upload is gone."
    case .wrongOffset: "The upload goes on elsewhere than at this Upload-Offset."
    case .wrongMediaType: "Content of an upload has the type application/offset+octet-stream."
    case .inconsistentLength: "The lengths of the upload contradict each other."
    case .tooLong: "The content exceeds the length of the upload."
    case .tooLarge: "The upload is larger than is taken here."
    case .noSpace: "There is no room for more at the moment; what was received is kept."
    case .tooManyUploads: "There are too many uploads at once."
    case .alreadyComplete: "The upload is complete."
    case .digestMismatch: "The content does not match its checksum. It was discarded."
    case .unknownDigest: "The algorithm of the checksum is not known here."
    case .modifiesFinal: "A final upload takes no content; it is made of its parts."
    case .answerIsAnothers:
      "The upload is complete; its answer is given to the credentials that it was created or delivered with."
    case .unfinishedPart: "A part of the final upload is not complete."
    case .methodNotAllowed: "This method is not allowed for uploads."
    case .undecided: "All bytes are here, and the server behind this proxy has not answered yet."
    case .outcomeUnknown:
      "The server may have received the upload, but its response did not arrive. The outcome is not known."
    case .originSilent:
      "The server behind this proxy has not said yet whether it takes uploads itself; none was made. Try again."
    case .storage: "The upload could not be stored; what was acknowledged is kept."
    case .ending: "The proxy restarts; what was received is kept. Go on from the offset."
    }
  }
}
