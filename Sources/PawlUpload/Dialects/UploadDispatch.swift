package import PawlHTTP

/// Decides which ``RequestKind`` a request to a route with uploads has (UploadProtocols, "Dispatch order").
package enum UploadDispatch {
  package static func kind(of head: RequestHead, _ policy: DispatchPolicy) -> RequestKind {
    let path = RequestTarget.path(of: head.target)
    if path.starts(with: policy.uploadPrefix) {
      return resource(head, token: UploadToken(path.dropFirst(policy.uploadPrefix.count)), policy)
    }
    // Most requests are GET or HEAD. They are not about uploads, whatever fields they have.
    if head.method.isRetrieval { return ForeignUpload.isWebSocket(head.fields) ? .foreign : .plain }
    if TusRequest.isSpoken(head), head.method != .options { return tusCreation(head) }
    if ForeignUpload.isSpoken(head) { return .foreign }
    if head.method == .options { return isDiscovery(head) ? .discovery : .plain }
    return draftCreation(head, policy) ?? ordinary(head)
  }

  /// Returns the kind of a request below the upload prefix. Such requests are never forwarded.
  private static func resource(_ head: RequestHead, token: UploadToken?, _ policy: DispatchPolicy) -> RequestKind {
    let speech: UploadProtocol =
      TusRequest.isSpoken(head)
      ? .tus : .ietf(InteropVersion.of(head.fields, allowsFinal: policy.allowsFinal) ?? .unversioned)
    do {
      let command = try command(head, speech)
      return .resource(token, command, speech)
    } catch {
      // Without a valid token there is no upload, so the response is 404, whatever the request is.
      return token == nil ? .resource(nil, .inspect, speech) : .refused(error, speech, onResource: token)
    }
  }

  private static func command(_ head: RequestHead, _ speech: UploadProtocol) throws(UploadRefusal) -> UploadCommand {
    switch speech {
    case .tus: try TusRequest.command(head)
    case .ietf(let version): try IETFRequest.command(head, version)
    }
  }

  /// Returns the kind of a tus request that is not below the upload prefix. Only POST creates an upload. Another method is about an
  /// upload that the origin itself has created.
  private static func tusCreation(_ head: RequestHead) -> RequestKind {
    guard head.method == .post, !head.fields.contains(.xHTTPMethodOverride) else { return ordinary(head) }
    do {
      return .creation(try TusRequest.creation(head), .tus)
    } catch {
      return .refused(error, .tus, onResource: nil)
    }
  }

  /// Returns the kind of a creation in the drafts; `nil`: the request is not a creation.
  private static func draftCreation(_ head: RequestHead, _ policy: DispatchPolicy) -> RequestKind? {
    guard mayCreate(head), let version = InteropVersion.of(head.fields, allowsFinal: policy.allowsFinal),
      let completes = IETFRequest.completes(head.fields, version)
    else { return nil }
    do {
      let creation = try IETFRequest.creation(head, version, completes: completes)
      if completes, let count = creation.contentLength, count < policy.minResumable { return .small }
      return .creation(creation, .ietf(version))
    } catch {
      return .refused(error, .ietf(version), onResource: nil)
    }
  }

  /// Whether a request with this method can create an upload: its method has to allow content. A PATCH with an offset appends to
  /// an upload that the origin itself has created.
  private static func mayCreate(_ head: RequestHead) -> Bool {
    switch head.method {
    case .get, .head, .delete, .options, .trace, .connect: false
    case .patch:
      !head.fields.contains(.uploadOffset)
    case .post, .put, .other: true
    }
  }

  /// Returns the kind of a request without an upload protocol. Content of which the origin has to get each part at once
  /// (`Incremental`, draft-ietf-httpbis-incremental) is never spooled.
  private static func ordinary(_ head: RequestHead) -> RequestKind {
    head.fields.structuredBoolean(.incremental) == true ? .foreign : .plain
  }

  /// Whether an OPTIONS request asks which uploads are supported. `OPTIONS *` names no resource, and an OPTIONS request with a
  /// completeness field has another meaning (-05, -12).
  private static func isDiscovery(_ head: RequestHead) -> Bool {
    head.target.first == 0x2f && !head.fields.contains(.uploadComplete) && !head.fields.contains(.uploadIncomplete)
  }
}
