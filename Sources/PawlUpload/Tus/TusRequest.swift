package import PawlHTTP

/// Parses requests of tus 1.0.0 (UploadProtocols, "tus").
package enum TusRequest {
  package static func isSpoken(_ head: RequestHead) -> Bool { head.fields.contains(.tusResumable) }

  /// Returns the method of a request below the upload prefix: `X-HTTP-Method-Override` replaces POST if it names a method of tus.
  /// In requests with another method, or not below the prefix, the field has no effect, so that rules about methods apply to the
  /// request line.
  package static func effectiveMethod(_ head: RequestHead) -> Method {
    guard head.method == .post, let name = head.fields.only(.xHTTPMethodOverride)?.trimmed else { return head.method }
    let method = Method(name)
    switch method {
    case .patch, .delete, .head: return method
    case .get, .post, .put, .options, .trace, .connect, .other: return .post
    }
  }

  /// Parses a POST that creates an upload (tus 1.0.0, creation, creation-with-upload, creation-defer-length, concatenation).
  package static func creation(_ head: RequestHead) throws(UploadRefusal) -> UploadCreation {
    try checkVersion(head)
    var creation = UploadCreation()
    (creation.contentLength, creation.hasContent) = try content(head)
    creation.concat = try head.fields.single(.uploadConcat, "Upload-Concat comes more than once.")
      .map { value throws(UploadRefusal) in try TusConcat(value) }
    creation.metadata = try head.fields.combined(.uploadMetadata)
      .map { value throws(UploadRefusal) in try TusMetadata(value.trimmed) }
    // The field was empty, so HEAD does not return it.
    if creation.metadata?.pairs.isEmpty == true { creation.metadata = nil }
    creation.length = try length(head)
    creation.isLengthDeferred = try defersLength(head)
    try checkLength(creation)
    guard creation.hasContent else { return creation }
    // The media type and the checksum are checked only if there is content, because clients also send them in creations without
    // content.
    try checkMediaType(head)
    creation.digests = try RequestDigests(tus: head)
    return creation
  }

  /// Returns the URLs of the parts of a concatenation; `nil`: the request is not a concatenation.
  package static func parts(_ head: RequestHead) -> [[UInt8]]? {
    guard head.method == .post, isSpoken(head), let value = head.fields.only(.uploadConcat) else { return nil }
    do {
      guard case .final(let urls) = try TusConcat(value) else { return nil }
      return urls
    } catch { return nil }
  }

  /// Parses a request to an upload's URL.
  package static func command(_ head: RequestHead) throws(UploadRefusal) -> UploadCommand {
    let method = effectiveMethod(head)
    if method == .options { return .options }
    try checkVersion(head)
    switch method {
    case .head: return .inspect
    case .get: return .readAnswer
    case .delete: return .cancel
    case .patch: return .append(try append(head))
    case .post, .put, .options, .trace, .connect, .other: throw .methodNotAllowed
    }
  }

  private static func append(_ head: RequestHead) throws(UploadRefusal) -> UploadAppend {
    try checkMediaType(head)
    guard let value = try head.fields.single(.uploadOffset, "Upload-Offset comes more than once.") else {
      throw .malformed("Upload-Offset is missing.")
    }
    guard let offset = number(value) else { throw .malformed("Upload-Offset is not a decimal number.") }
    var append = UploadAppend(offset: offset)
    append.length = try length(head)
    (append.contentLength, append.hasContent) = try content(head)
    append.digests = try RequestDigests(tus: head)
    if let length = append.length, length < offset { throw .inconsistentLength }
    return append
  }

  /// Refuses a request in another version (tus 1.0.0, Tus-Resumable).
  private static func checkVersion(_ head: RequestHead) throws(UploadRefusal) {
    let version = try head.fields.single(.tusResumable, "Tus-Resumable comes more than once.")
    guard let version, version.elementsEqual(TusVersion.spoken.utf8) else { throw .unsupportedTusVersion }
  }

  private static func checkMediaType(_ head: RequestHead) throws(UploadRefusal) {
    let type = try head.fields.single(.contentType, "Content-Type comes more than once.")
    guard let type, MediaType.essence(type).equalsIgnoringCase("application/offset+octet-stream") else {
      throw .wrongMediaType
    }
  }

  /// Checks that the creation declares its length, or announces that a later request declares it. A concatenation must do
  /// neither, because the lengths of its parts are known.
  private static func checkLength(_ creation: UploadCreation) throws(UploadRefusal) {
    if case .final = creation.concat {
      guard creation.length == nil, !creation.isLengthDeferred else {
        throw .malformed("A final upload has the length of its parts; it is not declared.")
      }
      if creation.hasContent { throw .modifiesFinal }
      return
    }
    guard creation.length != nil || creation.isLengthDeferred else {
      throw .malformed("Upload-Length or Upload-Defer-Length is missing.")
    }
    guard creation.length == nil || !creation.isLengthDeferred else {
      throw .malformed("Upload-Length and Upload-Defer-Length exclude each other.")
    }
    if let length = creation.length, let count = creation.contentLength, count > length { throw .tooLong }
  }

  private static func length(_ head: RequestHead) throws(UploadRefusal) -> UInt64? {
    guard let value = try head.fields.single(.uploadLength, "Upload-Length comes more than once.") else { return nil }
    guard let length = number(value) else { throw .malformed("Upload-Length is not a decimal number.") }
    return length
  }

  private static func defersLength(_ head: RequestHead) throws(UploadRefusal) -> Bool {
    let value = try head.fields.single(.uploadDeferLength, "Upload-Defer-Length comes more than once.")
    guard let value else { return false }
    guard value.equals("1") else { throw .malformed("Upload-Defer-Length is not 1.") }
    return true
  }

  /// Returns the length of the content (`nil`: not known yet), and whether there may be content.
  private static func content(_ head: RequestHead) throws(UploadRefusal) -> (UInt64?, Bool) {
    switch head.framing {
    case .none: return (0, false)
    case .length(let count):
      guard count <= largest else { throw .tooLarge }
      return (count, count > 0)
    case .chunked, .untilClose: return (nil, true)
    }
  }

  /// Parses a decimal number up to 2^63 - 1, so that sums do not overflow and the catalogue can store it.
  private static func number(_ value: Bytes) -> UInt64? { value.strictDecimal.flatMap { $0 <= largest ? $0 : nil } }

  private static let largest = UInt64(Int64.max)
}
