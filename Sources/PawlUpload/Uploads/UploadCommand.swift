package import PawlHTTP

/// In which protocol a request speaks of an upload.
package enum UploadProtocol: Hashable, Sendable {
  case ietf(InteropVersion)
  case tus
}

/// A request that begins an upload, understood.
package struct UploadCreation: Hashable, Sendable {
  /// IETF: the content ends the upload. tus: `false`; an upload ends where its length is reached.
  package var completes = false
  /// Bytes of the whole, however declared.
  package var length: UInt64?
  /// Bytes of this request's content; `nil`: chunked.
  package var contentLength: UInt64?
  package var hasContent = false
  package var digests = RequestDigests()
  /// tus only.
  package var metadata: TusMetadata?
  package var concat: TusConcat?
  package var isLengthDeferred = false

  package init() {}
}

/// A request that adds to an upload, or completes it, understood.
package struct UploadAppend: Hashable, Sendable {
  package var offset: UInt64
  package var completes = false
  /// Bytes of the whole as this request declares them.
  package var length: UInt64?
  /// Bytes of this request's content; `nil`: chunked.
  package var contentLength: UInt64?
  package var hasContent = false
  package var digests = RequestDigests()

  package init(offset: UInt64) { self.offset = offset }
}

/// What a request to an upload's own URL asks.
package enum UploadCommand: Hashable, Sendable {
  /// How far it is: HEAD, and GET in the drafts.
  case inspect
  /// The origin's answer: GET in tus.
  case readAnswer
  case append(UploadAppend)
  case cancel
  case options
}

/// What a request is to a route that takes uploads (protocols 9.1).
package enum RequestKind: Sendable {
  /// Nothing about an upload: forwarded as ever.
  case plain
  /// Another protocol's upload: forwarded untouched, never spooled.
  case foreign
  /// Said to be complete, and smaller than `min-resumable`: forwarded without upload fields.
  case small
  case creation(UploadCreation, UploadProtocol)
  /// Below the upload prefix; without a token there is nothing.
  case resource(UploadToken?, UploadCommand, UploadProtocol)
  case refused(UploadRefusal, UploadProtocol, onResource: UploadToken?)
  /// OPTIONS on a target: joined with the origin's answer.
  case discovery
}

/// What dispatching goes by.
package struct DispatchPolicy: Hashable, Sendable {
  /// Begins and ends with `/`.
  package var uploadPrefix: [UInt8]
  /// Bytes.
  package var minResumable: UInt64
  package var allowsFinal: Bool

  package init(uploadPrefix: [UInt8], minResumable: UInt64, allowsFinal: Bool) {
    (self.uploadPrefix, self.minResumable, self.allowsFinal) = (uploadPrefix, minResumable, allowsFinal)
  }
}

/// An answer of the upload protocols' own.
package struct UploadReply: Sendable {
  package var head: ResponseHead
  package var body: [UInt8]

  package init(_ head: ResponseHead, body: [UInt8] = []) { (self.head, self.body) = (head, body) }
}
