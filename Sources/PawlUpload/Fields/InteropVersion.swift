package import PawlHTTP

/// A version of the resumable upload drafts, and the table of the differences between the versions (UploadProtocols, "Versions" and
/// "One behaviour for all versions"). A number such as -05 is that of a draft: draft-ietf-httpbis-resumable-upload-05.
package struct InteropVersion: Hashable, Comparable, Sendable {
  /// 3 to 10; 11 for ``final``, 12 for ``unversioned``.
  package let number: Int

  /// The version of requests without `Upload-Draft-Interop-Version`: the protocol as the future RFC will define it.
  package static let final = InteropVersion(unchecked: 11)
  /// The version of requests to an upload's URL that name no version known to pawl. The newest rules apply, but no 1xx is sent,
  /// because the client has not announced that it understands interim responses (UploadProtocols, "Dispatch order").
  package static let unversioned = InteropVersion(unchecked: 12)
  package var isFinal: Bool { number == 11 }

  private init(unchecked number: Int) { self.number = number }

  /// `nil`: pawl does not support this version.
  package init?(number: Int) {
    guard (3...10).contains(number) else { return nil }
    self.number = number
  }

  /// Returns the version of a request. `nil`: pawl does not support it, or the field is missing and `allowsFinal` is `false`.
  /// Parameters of the field are ignored; a field on two lines is invalid.
  package static func of(_ fields: Fields, allowsFinal: Bool) -> InteropVersion? {
    guard fields.contains(.uploadDraftInteropVersion) else { return allowsFinal ? .final : nil }
    guard let number = fields.structuredInteger(.uploadDraftInteropVersion) else { return nil }
    return InteropVersion(number: Int(clamping: number))
  }

  package static func < (a: InteropVersion, b: InteropVersion) -> Bool { a.number < b.number }
}

/// The differences between the versions. UploadProtocols, "Versions", lists the drafts that each version stands for.
extension InteropVersion {
  /// The value of `Upload-Draft-Interop-Version` in responses; `nil`: the field is not sent.
  var fieldValue: [UInt8]? { number <= 10 ? Array("\(number)".utf8) : nil }

  /// Whether the completeness field is `Upload-Incomplete`, with the opposite meaning of `Upload-Complete`, as in -01.
  var isCompletenessInverted: Bool { number == 3 }
  var completenessField: FieldName { isCompletenessInverted ? .uploadIncomplete : .uploadComplete }
  /// The completeness field that this version does not use.
  var otherCompletenessField: FieldName { isCompletenessInverted ? .uploadComplete : .uploadIncomplete }

  /// Whether the client understands interim responses other than 100.
  var allowsInterim: Bool { self != .unversioned }
  /// Whether the 104 with the upload's URL is followed by 104 responses with `Upload-Offset` (since -03).
  package var hasProgress: Bool { number >= 5 && allowsInterim }

  /// Whether the version defines `Upload-Limit` (since -04).
  var hasLimits: Bool { number >= 6 }
  /// Whether the lifetime key of `Upload-Limit` is `expires`, as in -04 and -05.
  var limitExpires: Bool { number == 6 }

  /// Whether the version defines `Upload-Length`, since -05.
  var hasLength: Bool { number >= 6 }
  /// Whether `Upload-Length` is read. Version 5 does not define it, but tus-js-client sends it in that version.
  var readsLength: Bool { number >= 5 }
  /// Whether an upload is complete when its length is reached, even if the request has `?0`. In the drafts only `?1` completes an
  /// upload. But some clients of versions 5 and 6 send their last bytes with `?0`, and then no other request: they believe that
  /// the upload succeeded when the offset in the response equals the length.
  package var completesAtLength: Bool { number == 5 || number == 6 }
  /// Whether content beyond the length makes the upload invalid, since -08. Version 7 also stands for -06 and -07, in which bytes
  /// beyond the length are not accepted, but the upload stays valid; pawl does the same in version 7.
  package var givesUpBeyondLength: Bool { number >= 8 }
  /// Whether the completeness field may be missing from an append that completes the upload, up to -05.
  var appendMayOmitCompleteness: Bool { number <= 6 }
  /// Whether appends need `Content-Type: application/partial-upload`, since -04.
  var needsAppendMediaType: Bool { number >= 6 }
  /// Whether upload fields on HEAD and DELETE are errors, up to -05.
  var refusesStrayFields: Bool { number <= 6 }

  /// The status for an append that does not complete the upload.
  var incompleteAppendStatus: Int { number <= 6 ? 201 : 204 }
  /// Whether the response to a creation always needs `Location`: tus-js-client (`ietf-draft-05`) fails without it.
  var needsLocationOnAnswer: Bool { number <= 6 }
  /// Whether the completeness field of a response says who made the response (since -12): `?1` marks the origin's response. In
  /// earlier versions the field says whether the upload is complete.
  var completenessTellsWhoSpeaks: Bool { number >= 9 }
  /// Whether a client goes on after a 503 of pawl itself. In earlier versions a client may take any final response as the end of
  /// its upload, while all of them go on after a connection that broke.
  package var goesOnAfterStatus: Bool { number >= 9 }
  /// The status of the response if content comes for an upload that is complete already: 410 in version 8 (-10 and -11), 400 in
  /// all other versions (as in the drafts up to -09). The drafts since -12 define no status.
  var completedUploadStatus: Int { number == 8 ? 410 : 400 }
  /// Whether the version defines the problem type `completed-upload` (up to -11).
  var namesCompletedUpload: Bool { number <= 8 }
}
