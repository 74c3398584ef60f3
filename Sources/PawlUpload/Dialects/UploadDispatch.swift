package import PawlHTTP

/// What a request to a route that takes uploads is about (protocols 9.1, in its order).
package enum UploadDispatch {
  package static func kind(of head: RequestHead, _ policy: DispatchPolicy) -> RequestKind {
    let path = RequestTarget.path(of: head.target)
    if path.starts(with: policy.uploadPrefix) {
      return resource(head, token: UploadToken(path.dropFirst(policy.uploadPrefix.count)), policy)
    }
    // Most requests: nothing of an upload, whatever fields they carry.
    if head.method.isRetrieval { return ForeignUpload.isWebSocket(head.fields) ? .foreign : .plain }
    if TusRequest.isSpoken(head), head.method != .options { return tusCreation(head) }
    if ForeignUpload.isSpoken(head) { return .foreign }
    if head.method == .options { return isDiscovery(head) ? .discovery : .plain }
    return draftCreation(head, policy) ?? ordinary(head)
  }

  /// Below the upload prefix nothing is forwarded, whatever it is.
  private static func resource(_ head: RequestHead, token: UploadToken?, _ policy: DispatchPolicy) -> RequestKind {
    let speech: UploadProtocol =
      TusRequest.isSpoken(head)
      ? .tus : .ietf(InteropVersion.of(head.fields, allowsFinal: policy.allowsFinal) ?? .unversioned)
    do {
      let command = try command(head, speech)
      return .resource(token, command, speech)
    } catch {
      // What is no upload is not found, however it was asked for.
      return token == nil ? .resource(nil, .inspect, speech) : .refused(error, speech, onResource: token)
    }
  }

  private static func command(_ head: RequestHead, _ speech: UploadProtocol) throws(UploadRefusal) -> UploadCommand {
    switch speech {
    case .tus: try TusRequest.command(head)
    case .ietf(let version): try IETFRequest.command(head, version)
    }
  }

  /// tus begins with POST. Any other method is about an upload of the origin's own.
  private static func tusCreation(_ head: RequestHead) -> RequestKind {
    guard head.method == .post, !head.fields.contains(.xHTTPMethodOverride) else { return ordinary(head) }
    do {
      return .creation(try TusRequest.creation(head), .tus)
    } catch {
      return .refused(error, .tus, onResource: nil)
    }
  }

  /// `nil`: the drafts do not speak in it.
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

  /// Whether the method allows content. A PATCH with an offset goes on with an upload of the origin's own.
  private static func mayCreate(_ head: RequestHead) -> Bool {
    switch head.method {
    case .get, .head, .delete, .options, .trace, .connect: false
    case .patch:
      !head.fields.contains(.uploadOffset)
    case .post, .put, .other: true
    }
  }

  /// Content that is to reach the origin as it comes (`Incremental`, draft-ietf-httpbis-incremental) is never spooled.
  private static func ordinary(_ head: RequestHead) -> RequestKind {
    head.fields.structuredBoolean(.incremental) == true ? .foreign : .plain
  }

  /// `OPTIONS *` asks about no target, and one that tells completeness asks something else (-05, -12).
  private static func isDiscovery(_ head: RequestHead) -> Bool {
    head.target.first == 0x2f && !head.fields.contains(.uploadComplete) && !head.fields.contains(.uploadIncomplete)
  }
}
