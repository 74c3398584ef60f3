import PawlHTTP

/// What a request says in the resumable upload drafts, in each version (protocols 1.4 to 1.7, 2.2).
enum IETFRequest {
  /// Whether the content ends the upload; `nil` when the field of the version is absent or not a Boolean.
  static func completes(_ fields: Fields, _ version: InteropVersion) -> Bool? {
    fields.structuredBoolean(version.completenessField).map { $0 != version.isCompletenessInverted }
  }

  /// The start of an upload. `completes` has been read already.
  /// - Throws: 400 where the lengths contradict each other, or the content would begin elsewhere than at 0.
  static func creation(
    _ head: RequestHead, _ version: InteropVersion, completes: Bool
  ) throws(UploadRefusal) -> UploadCreation {
    if let offset = head.fields.structuredInteger(.uploadOffset), offset != 0 {
      throw .malformed("An upload begins at Upload-Offset 0.")
    }
    var creation = UploadCreation()
    creation.completes = completes
    creation.contentLength = head.contentLength
    creation.hasContent = creation.contentLength != 0
    creation.length = try wholeLength(head, version, offset: 0, completes: completes)
    creation.digests = RequestDigests(drafts: head)
    return creation
  }

  /// A request to an upload's own URL.
  static func command(_ head: RequestHead, _ version: InteropVersion) throws(UploadRefusal) -> UploadCommand {
    switch head.method {
    case .head, .get:
      try refuseStrayFields(head, version)
      return .inspect
    case .delete:
      try refuseStrayFields(head, version)
      return .cancel
    case .patch: return .append(try append(head, version))
    case .options: return .options
    case .post, .put, .trace, .connect, .other: throw .methodNotAllowed
    }
  }

  private static func append(_ head: RequestHead, _ version: InteropVersion) throws(UploadRefusal) -> UploadAppend {
    if version.needsAppendMediaType {
      guard let type = head.fields.only(.contentType), MediaType.isPartialUpload(type) else { throw .wrongMediaType }
    }
    guard let offset = head.fields.structuredInteger(.uploadOffset) else {
      throw .malformed("Upload-Offset is missing, or not a number of bytes.")
    }
    var append = UploadAppend(offset: offset)
    append.completes = try completesAppend(head.fields, version)
    append.contentLength = head.contentLength
    append.hasContent = append.contentLength != 0
    append.length = try wholeLength(head, version, offset: offset, completes: append.completes)
    append.digests = RequestDigests(drafts: head)
    return append
  }

  /// Up to -05 the field may be left out of the last append. A field that is there and says nothing is refused in each
  /// version: to guess here may end an upload early.
  private static func completesAppend(_ fields: Fields, _ version: InteropVersion) throws(UploadRefusal) -> Bool {
    if let completes = completes(fields, version) { return completes }
    guard version.appendMayOmitCompleteness, !fields.contains(version.completenessField),
      !fields.contains(version.otherCompletenessField)
    else {
      throw version.isCompletenessInverted
        ? .malformed("Upload-Incomplete must be ?0 or ?1.") : .malformed("Upload-Complete must be ?0 or ?1.")
    }
    return true
  }

  /// The whole length as the request tells it: `Upload-Length`, or where the content ends that completes the upload.
  private static func wholeLength(
    _ head: RequestHead, _ version: InteropVersion, offset: UInt64, completes: Bool
  ) throws(UploadRefusal) -> UInt64? {
    let declared = version.readsLength ? head.fields.structuredInteger(.uploadLength) : nil
    if let declared, offset > declared { throw .inconsistentLength }
    guard let count = head.contentLength else { return declared }
    let (end, overflow) = offset.addingReportingOverflow(count)
    guard !overflow else { throw .malformed("The upload would be too long to count.") }
    guard let declared else { return completes ? end : nil }
    guard completes ? end == declared : end <= declared else { throw .inconsistentLength }
    return declared
  }

  /// HEAD and DELETE must not carry the state of an upload (-01 to -05; the length since -05, on HEAD).
  private static func refuseStrayFields(_ head: RequestHead, _ version: InteropVersion) throws(UploadRefusal) {
    guard version.refusesStrayFields else { return }
    var stray: [FieldName] = [.uploadOffset, .uploadComplete, .uploadIncomplete]
    if version.hasLength, head.method != .delete { stray.append(.uploadLength) }
    if stray.contains(where: head.fields.contains) {
      throw .malformed("Upload-Offset, Upload-Complete and Upload-Length have no place in this request.")
    }
  }
}

extension RequestHead {
  /// Bytes of the content as the framing tells them; `nil` when only its end will.
  var contentLength: UInt64? {
    switch framing {
    case .none: 0
    case .length(let count): count
    case .chunked, .untilClose: nil
    }
  }
}
