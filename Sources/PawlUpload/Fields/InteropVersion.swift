package import PawlHTTP

/// A version of the resumable upload drafts, and the table of what each has on the wire (protocols 2.2, 2.3).
package struct InteropVersion: Hashable, Comparable, Sendable {
  /// 3 to 10; 11 for ``final``, 12 for ``unversioned``.
  package let number: Int

  /// Without `Upload-Draft-Interop-Version`: what the RFC will be.
  package static let final = InteropVersion(unchecked: 11)
  /// A request to an upload's own URL that names no version pawl speaks: the newest rules, and never a 1xx, which
  /// nobody asked for (protocols 9.1).
  package static let unversioned = InteropVersion(unchecked: 12)
  package var isFinal: Bool { number == 11 }

  private init(unchecked number: Int) { self.number = number }

  /// `nil` for versions that pawl does not speak.
  package init?(number: Int) {
    guard (3...10).contains(number) else { return nil }
    self.number = number
  }

  /// The version a request is written in. `nil`: none that pawl speaks, and a request without the field unless
  /// `allowsFinal`. Parameters of the field are ignored; two lines are none.
  package static func of(_ fields: Fields, allowsFinal: Bool) -> InteropVersion? {
    guard fields.contains(.uploadDraftInteropVersion) else { return allowsFinal ? .final : nil }
    guard let number = fields.structuredInteger(.uploadDraftInteropVersion) else { return nil }
    return InteropVersion(number: Int(clamping: number))
  }

  package static func < (a: InteropVersion, b: InteropVersion) -> Bool { a.number < b.number }
}

/// What the versions differ in. The numbers of drafts are in protocols 2.1.
extension InteropVersion {
  /// What stands in `Upload-Draft-Interop-Version` of answers; `nil`: the field is not sent.
  var fieldValue: [UInt8]? { number <= 10 ? Array("\(number)".utf8) : nil }

  /// -01 says `Upload-Incomplete`, and the opposite.
  var isCompletenessInverted: Bool { number == 3 }
  var completenessField: FieldName { isCompletenessInverted ? .uploadIncomplete : .uploadComplete }
  /// Not this version's spelling.
  var otherCompletenessField: FieldName { isCompletenessInverted ? .uploadComplete : .uploadIncomplete }

  /// Whether a client understands 1xx answers beside 100.
  var allowsInterim: Bool { self != .unversioned }
  /// Further 104s with `Upload-Offset`, since -03.
  package var hasProgress: Bool { number >= 5 && allowsInterim }

  /// `Upload-Limit`, since -04.
  var hasLimits: Bool { number >= 6 }
  /// Its lifetime key was `expires` in -04 and -05.
  var limitExpires: Bool { number == 6 }

  /// `Upload-Length` has a meaning of its own, since -05.
  var hasLength: Bool { number >= 6 }
  /// It is read before that, too: tus-js-client sends it with version 5.
  var readsLength: Bool { number >= 5 }
  /// An upload is complete where its length is reached, whatever the request says. By the letter only `?1` completes it;
  /// but the clients of these two versions that say `?0` last take the offset for success and never come back.
  package var completesAtLength: Bool { number == 5 || number == 6 }
  /// Content beyond the length ends the upload, since -08. Version 7 was -06 and -07 as well, which stop there: so does it.
  package var givesUpBeyondLength: Bool { number >= 8 }
  /// The completeness field may be missing from an append that completes, up to -05.
  var appendMayOmitCompleteness: Bool { number <= 6 }
  /// `Content-Type: application/partial-upload` on appends, since -04.
  var needsAppendMediaType: Bool { number >= 6 }
  /// State fields on HEAD and DELETE were errors up to -05.
  var refusesStrayFields: Bool { number <= 6 }

  /// What an append that does not complete is answered with.
  var incompleteAppendStatus: Int { number <= 6 ? 201 : 204 }
  /// tus-js-client (`ietf-draft-05`) fails without `Location` on the answer to a creation.
  var needsLocationOnAnswer: Bool { number <= 6 }
  /// Since -12 the completeness of an answer tells who speaks: `?1` is the origin. Before: whether the upload is complete.
  var completenessTellsWhoSpeaks: Bool { number >= 9 }
  /// What content for a complete upload is refused with: 400 up to -09, 410 in -10 and -11, left open since.
  var completedUploadStatus: Int { number == 8 ? 410 : 400 }
  /// The problem type `completed-upload` was dropped in -12.
  var namesCompletedUpload: Bool { number <= 8 }
}
