import PawlHTTP
import PawlLoop
import PawlObserve
import PawlStore
import PawlUpload

/// The one request that an upload becomes for its origin: head, and what stands before and behind the stored bytes.
struct UploadRequest {
  /// As a client's request: forwarded, asked about and invalidated like one.
  let incoming: IncomingRequest
  /// Before and behind the stored bytes: a form's; empty when they are the content.
  let prefix: [UInt8]
  let suffix: [UInt8]
  /// What the stored bytes are said to hash to.
  let claims: [DigestClaim]

  /// - Parameter route: where it goes now; the one it was created on may be gone.
  init(_ upload: SpooledUpload, length: UInt64, route: RouteSettings, uploads: UploadRoute, loop: ServerLoop) {
    let origin = upload.origin
    let creation = Self.creation(origin.head, uploads.dispatch)
    claims = creation?.digests.representation ?? []
    let shape = UploadShape(origin, metadata: creation?.metadata, uploads.settings, id: upload.id)
    (prefix, suffix) = (shape.prefix, shape.suffix)
    let total = length + UInt64(prefix.count) + UInt64(suffix.count)
    let head = ForwardedHead.make(
      creation: origin.head, credentials: upload.credentials, id: upload.id.hex, length: total,
      contentType: shape.contentType, disposition: shape.disposition)
    incoming = IncomingRequest(
      head: head, route: route, loop: loop,
      client: SocketAddress.literal(origin.clientAddress[...].text, port: 0), isTrustedPeer: origin.peerIsTrusted,
      port: origin.port, requestID: head.fields.only(.xRequestID).map(Array.init) ?? RequestID.make(), isRouted: true,
      record: TransferRecord(began: loop.loop.now))
  }

  /// The head as it goes out.
  var head: RequestHead { OriginRequests.forwarded(incoming) }
  var isEmpty: Bool { head.framing == .length(0) }

  private static func creation(_ head: RequestHead, _ policy: DispatchPolicy) -> UploadCreation? {
    guard case .creation(let creation, _) = UploadDispatch.kind(of: head, policy) else { return nil }
    return creation
  }
}
