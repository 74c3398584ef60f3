import PawlHTTP

/// Recognises uploads in protocols that pawl does not implement. Such requests are passed on unchanged (UploadProtocols, "Other
/// upload protocols").
enum ForeignUpload {
  static func isSpoken(_ head: RequestHead) -> Bool {
    if isWebSocket(head.fields) || head.method == .connect { return true }
    switch head.method {
    case .get, .head, .trace: return false
    case .post, .put, .delete, .options, .connect, .patch, .other: break
    }
    return hasForeignField(head.fields) || hasForeignTarget(head)
  }

  static func isWebSocket(_ fields: Fields) -> Bool {
    fields.all(.upgrade).contains { $0.listElements.contains { $0.equalsIgnoringCase("websocket") } }
  }

  private static func hasForeignField(_ fields: Fields) -> Bool {
    fields.lines.contains { line in
      let value = fields.value(line)
      switch line.name {
      // Used by partial PUT (RFC 9110 §14.5), Google, Microsoft Graph, Cloudinary, nginx-upload-module and `curl -C`.
      case .contentRange: return true
      case .authorization: return isSigned(value)
      case .contentType: return isForeignType(value)
      case .contentEncoding: return value.listElements.contains { $0.equalsIgnoringCase("aws-chunked") }
      case .other: return isForeignName(fields.name(line))
      default: return false
      }
    }
  }

  /// Whether `Authorization` has a signature of S3. The signature covers fields that pawl would change.
  private static func isSigned(_ authorization: Bytes) -> Bool {
    authorization.prefix(5).equalsIgnoringCase("AWS4-") || authorization.prefix(4).equalsIgnoringCase("AWS ")
  }

  /// Whether `Content-Type` is that of gRPC, or of appends in SabreDAV.
  private static func isForeignType(_ value: Bytes) -> Bool {
    let type = MediaType.essence(value)
    return type.prefix(16).equalsIgnoringCase("application/grpc")
      || type.equalsIgnoringCase("application/x-sabredav-partialupdate")
  }

  private static func isForeignName(_ name: Bytes) -> Bool {
    name.prefix(14).equalsIgnoringCase("X-Goog-Upload-") || name.equalsIgnoringCase("X-Goog-Resumable")
      || name.prefix(12).equalsIgnoringCase("X-GUploader-") || name.equalsIgnoringCase("X-Content-Range")
      || name.equalsIgnoringCase("X-Update-Range")
  }

  private static func hasForeignTarget(_ head: RequestHead) -> Bool {
    let path = RequestTarget.path(of: head.target)
    if path.hasPrefix("/v2/"), path.holds("/blobs/uploads/") || path.ends(in: "/blobs/uploads") { return true }
    if path.ends(in: "/createUploadSession") { return true }
    let query = head.target.dropFirst(path.count + 1)
    return query.split(separator: 0x26).contains(where: isForeignParameter)
  }

  private static func isForeignParameter(_ pair: Bytes) -> Bool {
    let name = pair.prefix { $0 != 0x3d }
    let value = pair.dropFirst(name.count + 1)
    return name.equals("partNumber") || (name.equals("uploads") && value.isEmpty) || name.equals("X-Amz-Signature")
      || name.equals("X-Goog-Signature") || (name.equalsIgnoringCase("uploadType") && value.equals("resumable"))
  }
}

extension Bytes {
  fileprivate func ends(in literal: StaticString) -> Bool { suffix(literal.utf8CodeUnitCount).equals(literal) }

  fileprivate func holds(_ literal: StaticString) -> Bool {
    indices.contains { self[$0...].hasPrefix(literal) }
  }
}
