import PawlHTTP

/// Parses requests of the resumable upload drafts, in each version (UploadProtocols, "Creation" to "Discovery and cancellation",
/// and "Versions").
enum IETFRequest {
  /// Returns whether the content completes the upload; `nil`: the field of the version is absent or not a Boolean.
  static func completes(_ fields: Fields, _ version: InteropVersion) -> Bool? {
    fields.structuredBoolean(version.completenessField).map { $0 != version.isCompletenessInverted }
  }

  /// Parses a creation. `completes` has been parsed already.
  /// - Throws: a refusal (400) if the lengths contradict each other, or the offset is not 0.
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

  /// Parses a request to an upload's URL.
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

  /// Returns whether an append completes the upload. Up to -05 the completeness field may be missing from the last append. A field
  /// that is present but invalid is refused in each version, because a wrong guess could complete an upload too early.
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

  /// Returns the length of the upload as the request declares it: `Upload-Length`, or the offset at which the content ends if the
  /// content completes the upload.
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

  /// Refuses upload fields on HEAD and DELETE, as -01 to -05 require; -05 also refuses the length on HEAD.
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
  /// The length of the content, as known from its framing; `nil`: the length is not known before the content ends.
  var contentLength: UInt64? {
    switch framing {
    case .none: 0
    case .length(let count): count
    case .chunked, .untilClose: nil
    }
  }
}
