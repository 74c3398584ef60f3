package import PawlHTTP

/// Makes the head of the one request that delivers a completed upload to its origin (UploadProtocols, "Fields removed before
/// delivery").
package enum DeliveryHead {
  /// Makes the head.
  /// - Parameters:
  ///   - creation: the creation request as it was received.
  ///   - credentials: `Authorization` and `Cookie` of the latest request of the same user, which replace those of the creation
  ///     request.
  ///   - id: the id of the upload, 32 hexadecimal digits.
  ///   - length: the length of the content in bytes.
  ///   - contentType: the `Content-Type` that replaces that of the creation request; `nil`: it is not replaced.
  ///   - disposition: the `Content-Disposition` that replaces that of the creation request; `nil`: it is not replaced.
  /// - Returns: a head without hop-by-hop and upload fields. The length of the content is in `framing` only, not in a field.
  package static func make(
    creation: RequestHead, credentials: Fields?, id: String, length: UInt64, contentType: [UInt8]?,
    disposition: [UInt8]?
  ) -> RequestHead {
    var head = creation
    head.framing = .length(length)
    head.version = .http11
    HopByHop.strip(&head.fields)
    stripped(&head.fields)
    for name in consumed { head.fields.removeAll(name) }
    refresh(&head.fields, from: credentials)
    describe(&head.fields, contentType, disposition)
    // These digests are of the content of one message, and the creation request may have had only a part of the upload.
    if creation.framing != .length(length) || isForm(contentType) {
      for name in [FieldName.contentDigest, .contentMD5] { head.fields.removeAll(name) }
    }
    head.fields.removeAll { name, spelling, _ in name == .other && spelling.equalsIgnoringCase(idField) }
    head.fields.append(named: idField, id.utf8)
    if head.fields.all(named: keyField).isEmpty { head.fields.append(named: keyField, "\"\(id)\"".utf8) }
    return head
  }

  /// Adds the fields of a tus creation that has all of the content (tus 1.0.0, creation-with-upload).
  package static func addTusFields(_ fields: inout Fields, length: UInt64, metadata: [UInt8]?) {
    fields.set(.tusResumable, Array(TusVersion.spoken.utf8))
    fields.set(.uploadLength, length.decimal)
    if let metadata { fields.set(.uploadMetadata, metadata) }
  }

  /// Removes the fields of the upload protocols.
  package static func stripped(_ fields: inout Fields) {
    fields.removeAll(known: isOfUpload) { $0.prefix(4).equalsIgnoringCase("tus-") }
  }

  private static let idField = Array("X-Pawl-Upload-Id".utf8)
  private static let keyField = Array("Idempotency-Key".utf8)

  /// Fields that have no meaning any more once the upload is complete.
  private static let consumed: [FieldName] = [.incremental, .expect, .contentLength, .xHTTPMethodOverride]

  private static func isOfUpload(_ name: FieldName) -> Bool {
    switch name {
    case .uploadDraftInteropVersion, .uploadComplete, .uploadIncomplete, .uploadOffset, .uploadLength, .uploadLimit,
      .uploadChecksum, .uploadMetadata, .uploadConcat, .uploadDeferLength, .uploadExpires, .tusResumable:
      true
    default: false
    }
  }

  private static func refresh(_ fields: inout Fields, from credentials: Fields?) {
    guard let credentials else { return }
    for name in [FieldName.authorization, .cookie] where credentials.contains(name) {
      fields.removeAll(name)
      for value in credentials.all(name) { fields.append(name, value) }
    }
  }

  private static func describe(_ fields: inout Fields, _ contentType: [UInt8]?, _ disposition: [UInt8]?) {
    if let contentType {
      fields.set(.contentType, contentType)
    } else if let type = fields.first(.contentType), MediaType.isOfProtocol(type) {
      fields.removeAll(.contentType)  // The type describes the upload protocol, not the content.
    }
    if let disposition { fields.set(.contentDisposition, disposition) }
    guard isForm(contentType) else { return }
    // These fields describe the file, but the content is a form with the file in it.
    for name in [FieldName.reprDigest, .digest, .contentMD5, .contentEncoding] { fields.removeAll(name) }
  }

  private static func isForm(_ contentType: [UInt8]?) -> Bool {
    contentType.map { MediaType.essence($0[...]).equalsIgnoringCase("multipart/form-data") } ?? false
  }
}
