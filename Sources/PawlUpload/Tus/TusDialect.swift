import PawlHTTP

/// Makes answers in tus 1.0.0 (UploadProtocols, "tus").
enum TusDialect {
  static let extensions =
    "creation,creation-with-upload,creation-defer-length,expiration,checksum,checksum-trailer,termination,concatenation"
  static let checksumAlgorithms = "sha1,md5,crc32,sha256"

  /// Answers a creation. If all bytes have arrived but the origin has not responded, the answer has no offset, because a client
  /// that gets an offset equal to the length believes that the upload succeeded.
  static func created(location: [UInt8], _ status: UploadFacts, _ limits: UploadLimits) -> UploadReply {
    var head = own(201, "Created")
    head.fields.append(.location, location)
    if tellsOffset(status) { head.fields.append(offset: status.offset) }
    head.fields.append(expiry: status)
    return UploadReply(head)
  }

  static func appended(_ status: UploadFacts, _ limits: UploadLimits) -> UploadReply {
    var head = own(204, "No Content")
    head.fields.append(offset: status.offset)
    head.fields.append(expiry: status)
    return UploadReply(head)
  }

  /// Answers HEAD. If the offset equals the length, a client believes that the upload succeeded. So once all bytes have arrived,
  /// the answer has offset and length only if the origin has accepted the upload, or if the upload is a part of a concatenation.
  static func status(_ status: UploadFacts, _ limits: UploadLimits) -> UploadReply {
    switch status.phase {
    case .open: return found(status)
    case .complete, .forwarding, .sent, .unknown:
      if status.isConcatPartial { return found(status) }
      return refusal(status.phase == .unknown ? .outcomeUnknown : .undecided(retryAfter: 5), status, limits)
    case .answered:
      guard let origin = status.originStatus, origin >= 400 else { return found(status) }
      var reply = refusal(.gone, nil, limits)
      reply.head.fields.append(originStatus: origin)
      return reply
    case .invalid, .removed: return refusal(.gone, nil, limits)
    }
  }

  private static func found(_ status: UploadFacts) -> UploadReply {
    var head = own(200, "OK")
    if tellsOffset(status) { head.fields.append(offset: status.offset) }
    if let length = status.length {
      head.fields.append(.uploadLength, length.decimal)
    } else if !status.isConcatFinal {
      head.fields.append(.uploadDeferLength, "1")
    }
    if let metadata = status.metadata { head.fields.append(.uploadMetadata, metadata) }
    if let concat = status.concat { head.fields.append(.uploadConcat, concat) }
    head.fields.append(expiry: status)
    if status.phase == .answered, let origin = status.originStatus { head.fields.append(originStatus: origin) }
    return UploadReply(head)
  }

  /// Whether the answer has the offset. A concatenation has no offset before it is complete (tus 1.0.0, concatenation).
  private static func tellsOffset(_ status: UploadFacts) -> Bool {
    switch status.phase {
    case .open: !status.isConcatFinal
    case .complete, .forwarding, .sent, .unknown: status.isConcatPartial
    case .answered: true
    case .invalid, .removed: false
    }
  }

  static func cancelled() -> UploadReply { UploadReply(own(204, "No Content")) }

  /// Returns the origin's response in tus. A 2xx or 3xx becomes 201 or 204, which tus clients understand; a GET of the upload's
  /// URL still returns the original response. Responses with another status keep it, and keep their content.
  static func answer(
    _ answer: ResponseHead, total: UInt64, location: [UInt8]?, consumed: Bool
  ) -> (head: ResponseHead, keepsBody: Bool) {
    var head = answer
    head.fields.removeAll { name, spelling, _ in isOfUploads(name, spelling) }
    head.fields.shield()
    head.fields.append(.tusResumable, TusVersion.spoken)
    guard consumed, (200..<400).contains(answer.status) else { return (head, true) }
    head.fields.removeAll { name, _, _ in describesContent(name) }
    (head.status, head.reason) = location == nil ? (204, Bytes("No Content")) : (201, Bytes("Created"))
    if let location { head.fields.append(.location, location) }
    head.fields.append(offset: total)
    head.fields.append(originStatus: answer.status)
    return (head, false)
  }

  /// Whether a field is an upload field of the origin, which does not describe an upload of pawl.
  private static func isOfUploads(_ name: FieldName, _ spelling: Bytes) -> Bool {
    switch name {
    case .uploadDraftInteropVersion, .uploadComplete, .uploadIncomplete, .uploadOffset, .uploadLength, .uploadLimit,
      .uploadChecksum, .uploadMetadata, .uploadConcat, .uploadDeferLength, .uploadExpires, .tusResumable:
      true
    case .other:
      spelling.prefix(4).equalsIgnoringCase("tus-") || spelling.equalsIgnoringCase(IETFDialect.originStatusField)
    default: false
    }
  }

  /// Whether a field belongs to the content of the origin's response. That content is left out, so these fields are left out,
  /// too.
  private static func describesContent(_ name: FieldName) -> Bool {
    switch name {
    case .contentType, .contentLength, .contentEncoding, .contentLanguage, .contentLocation, .contentRange,
      .contentDisposition, .contentMD5, .contentDigest, .reprDigest, .digest, .etag, .lastModified, .acceptRanges,
      .transferEncoding, .trailer, .age, .expires, .pragma, .location, .refresh, .retryAfter:
      true
    default: false
    }
  }

  /// Returns the fields that answer OPTIONS (tus 1.0.0, OPTIONS).
  static func discovery(_ limits: UploadLimits) -> Fields {
    var fields = Fields()
    fields.append(.tusResumable, TusVersion.spoken)
    fields.append(named: "Tus-Version".utf8, TusVersion.spoken.utf8)
    fields.append(named: "Tus-Extension".utf8, extensions.utf8)
    if let size = limits.maxSize { fields.append(named: "Tus-Max-Size".utf8, size.decimal) }
    fields.append(named: "Tus-Checksum-Algorithm".utf8, checksumAlgorithms.utf8)
    return fields
  }

  /// Answers OPTIONS on an upload's URL. The status is 200, because old browsers do not accept 204 for a preflight.
  static func options(_ limits: UploadLimits) -> UploadReply {
    var head = own(200, "OK")
    head.fields.removeAll(.tusResumable)
    let fields = discovery(limits)
    for line in fields.lines { head.fields.append(named: fields.name(line), fields.value(line)) }
    return UploadReply(head)
  }

  /// Makes the head of an answer of pawl itself.
  static func own(_ status: Int, _ reason: StaticString) -> ResponseHead {
    var head = ResponseHead(status: status, reason: Bytes(String(describing: reason)))
    head.fields.append(.tusResumable, TusVersion.spoken)
    head.fields.shield()
    return head
  }
}

extension Fields {
  /// Appends `Upload-Expires` for an incomplete upload that will expire (tus 1.0.0, expiration).
  fileprivate mutating func append(expiry status: UploadFacts) {
    guard status.phase == .open, let expires = status.expires else { return }
    append(.uploadExpires, HTTPDate.format(expires))
  }

  fileprivate mutating func append(originStatus: Int) {
    append(named: IETFDialect.originStatusField, UInt64(max(originStatus, 0)).decimal)
  }
}
