package import PawlHTTP

/// A version of the resumable upload drafts, and the table of the differences between the versions (UploadProtocols, "Versions" and
/// "One behaviour for all versions").
package struct InteropVersion: Hashable, Comparable, Sendable {
  /// 3 to 10; 11 for ``final``, 12 for ``unversioned``.
  package let number: Int

  /// The version of requests without `Upload-Draft-Interop-Version`, as the RFC will have them.
  package static let final = InteropVersion(unchecked: 11)
  /// The version of requests to an upload's URL that name no version known to pawl: the newest rules, and never a 1xx, since the
  /// client has not announced that it understands them (UploadProtocols, "Dispatch order").
  package static let unversioned = InteropVersion(unchecked: 12)
  package var isFinal: Bool { number == 11 }

  private init(unchecked number: Int) { self.number = number }

  /// `nil`: pawl does not support this version.
  package init?(number: Int) {
    guard (3...10).contains(number) else { return nil }
    self.number = number
  }

  /// Returns the version of a request. `nil`: pawl does not support it, or the field is missing and not `allowsFinal`. Parameters
  /// of the field are ignored; a field on two lines is invalid.
  package static func of(_ fields: Fields, allowsFinal: Bool) -> InteropVersion? {
    guard fields.contains(.uploadDraftInteropVersion) else { return allowsFinal ? .final : nil }
    guard let number = fields.structuredInteger(.uploadDraftInteropVersion) else { return nil }
    return InteropVersion(number: Int(clamping: number))
  }

  package static func < (a: InteropVersion, b: InteropVersion) -> Bool { a.number < b.number }
}

/// The differences between the versions. Which drafts each version stands for: (UploadProtocols, "Versions").
extension InteropVersion {
  /// The value of `Upload-Draft-Interop-Version` in responses; `nil`: the field is not sent.
  var fieldValue: [UInt8]? { number <= 10 ? Array("\(number)".utf8) : nil }

  /// Whether the field is `Upload-Incomplete`, with the opposite meaning, as in -01.
  var isCompletenessInverted: Bool { number == 3 }
  var completenessField: FieldName { isCompletenessInverted ? .uploadIncomplete : .uploadComplete }
  /// The field that other versions have in its place.
  var otherCompletenessField: FieldName { isCompletenessInverted ? .uploadComplete : .uploadIncomplete }

  /// Whether the client understands interim responses other than 100.
  var allowsInterim: Bool { self != .unversioned }
  /// Whether further 104s with `Upload-Offset` are sent, since -03.
  package var hasProgress: Bool { number >= 5 && allowsInterim }

  /// Whether there is `Upload-Limit`, since -04.
  var hasLimits: Bool { number >= 6 }
  /// Whether the lifetime key of `Upload-Limit` is `expires`, as in -04 and -05.
  var limitExpires: Bool { number == 6 }

  /// Whether the version defines `Upload-Length`, since -05.
  var hasLength: Bool { number >= 6 }
  /// Whether `Upload-Length` is read: also in version 5, with which tus-js-client sends it.
  var readsLength: Bool { number >= 5 }
  /// Whether an upload is complete when its length is reached, even with `?0`. By the drafts only `?1` completes it; but clients of
  /// these two versions whose last request has `?0` take the offset for success, and send no other request.
  package var completesAtLength: Bool { number == 5 || number == 6 }
  /// Whether content beyond the length makes the upload invalid, since -08. Version 7 also stands for -06 and -07, which only stop
  /// at the length; pawl does so in version 7.
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
  /// Whether completeness in a response tells where it is from, since -12: `?1` is the origin's response. Before, it tells whether
  /// the upload is complete.
  var completenessTellsWhoSpeaks: Bool { number >= 9 }
  /// The status for content for a complete upload: 410 in version 8, as in -10 and -11; otherwise 400, as up to -09. Not defined
  /// since -12.
  var completedUploadStatus: Int { number == 8 ? 410 : 400 }
  /// Whether there is the problem type `completed-upload`, up to -11.
  var namesCompletedUpload: Bool { number <= 8 }
}
