package import PawlHTTP

/// The upload protocol of a request.
package enum UploadProtocol: Hashable, Sendable {
  case ietf(InteropVersion)
  case tus
}

/// A parsed request that creates an upload.
package struct UploadCreation: Hashable, Sendable {
  /// Whether the content completes the upload (drafts). `false` in tus, where an upload is complete when its length is reached.
  package var completes = false
  /// The length of the complete upload in bytes; `nil`: the request does not declare it.
  package var length: UInt64?
  /// The length of this request's content in bytes; `nil`: chunked.
  package var contentLength: UInt64?
  package var hasContent = false
  package var digests = RequestDigests()
  /// tus only.
  package var metadata: TusMetadata?
  package var concat: TusConcat?
  package var isLengthDeferred = false

  package init() {}
}

/// A parsed request that adds to an upload, or completes it.
package struct UploadAppend: Hashable, Sendable {
  package var offset: UInt64
  package var completes = false
  /// The length of the complete upload in bytes, as this request declares it.
  package var length: UInt64?
  /// The length of this request's content in bytes; `nil`: chunked.
  package var contentLength: UInt64?
  package var hasContent = false
  package var digests = RequestDigests()

  package init(offset: UInt64) { self.offset = offset }
}

/// A parsed request to an upload's URL.
package enum UploadCommand: Hashable, Sendable {
  /// A request for the state of the upload: HEAD, and GET in the drafts.
  case inspect
  /// A request for the origin's response: GET in tus.
  case readAnswer
  case append(UploadAppend)
  case cancel
  case options
}

/// The kind of a request to a route with uploads (UploadProtocols, "Dispatch order").
package enum RequestKind: Sendable {
  /// Not about an upload; handled as on a route without uploads.
  case plain
  /// An upload in another protocol: forwarded unchanged, never spooled.
  case foreign
  /// A creation that is complete and smaller than `min-resumable`: forwarded without upload fields.
  case small
  case creation(UploadCreation, UploadProtocol)
  /// A request below the upload prefix. If the token is `nil`, there is no such upload.
  case resource(UploadToken?, UploadCommand, UploadProtocol)
  case refused(UploadRefusal, UploadProtocol, onResource: UploadToken?)
  /// OPTIONS on a target: answered together with the origin's response.
  case discovery
}

/// The settings that ``UploadDispatch`` needs.
package struct DispatchPolicy: Hashable, Sendable {
  /// The path of all upload URLs; begins and ends with `/`.
  package var uploadPrefix: [UInt8]
  /// The least length of a resumable upload, in bytes.
  package var minResumable: UInt64
  package var allowsFinal: Bool

  package init(uploadPrefix: [UInt8], minResumable: UInt64, allowsFinal: Bool) {
    (self.uploadPrefix, self.minResumable, self.allowsFinal) = (uploadPrefix, minResumable, allowsFinal)
  }
}

/// An answer of pawl itself about an upload.
package struct UploadReply: Sendable {
  package var head: ResponseHead
  package var body: [UInt8]

  package init(_ head: ResponseHead, body: [UInt8] = []) { (self.head, self.body) = (head, body) }
}
