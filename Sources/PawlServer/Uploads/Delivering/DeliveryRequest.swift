import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpload
import PawlUploadStore

/// The one request that delivers an upload: its head, and the bytes to send before and after the stored bytes.
struct DeliveryRequest {
  /// The request as if a client had sent it, because it is forwarded, authorised, and invalidates stored responses like a
  /// client's request.
  let incoming: IncomingRequest
  /// The bytes of a form before and after the stored bytes; empty if the stored bytes alone are the content.
  let prefix: [UInt8]
  let suffix: [UInt8]
  /// The digests that the client claims for the stored bytes (`Repr-Digest`).
  let claims: [DigestClaim]
  /// Whether the request is a tus creation with all bytes, for an origin that speaks tus.
  let isTus: Bool

  /// - Parameter route: the present route of the upload. The route on which the upload was created may not exist any more.
  init(_ upload: SpooledUpload, length: UInt64, route: RouteSettings, uploads: UploadRoute, loop: LoopServices) {
    let origin = upload.origin
    claims = RequestDigests.claims(origin.head.fields, .reprDigest)
    let known = loop.shared.probes.withLock { $0.lastSaid(for: ProbeMemory.Key(origin, route)) }
    isTus = origin.isTus && known?.tus == true
    let shape =
      isTus ? DeliveryShape.tus : DeliveryShape(origin, uploads.settings, boundary: DeliveryShape.randomBoundary)
    (prefix, suffix) = (shape.prefix, shape.suffix)
    let total = length + UInt64(prefix.count) + UInt64(suffix.count)
    var head = DeliveryHead.make(
      creation: origin.head, credentials: upload.credentials, id: upload.id.hex, length: total,
      contentType: shape.contentType, disposition: shape.disposition)
    if isTus { DeliveryHead.addTusFields(&head.fields, length: length, metadata: origin.metadata) }
    incoming = IncomingRequest(
      head: head, route: route, loop: loop,
      facts: ClientFacts(
        client: SocketAddress.literal(origin.clientAddress[...].text, port: 0), isTrusted: origin.peerIsTrusted,
        port: origin.port, isSecure: origin.scheme.elementsEqual("https".utf8)),
      requestID: head.fields.only(.xRequestID).map(Array.init) ?? loop.requestIDs.make(), isRouted: true,
      record: TransferRecord(began: loop.loop.now))
    incoming.isDelivery = true
  }

  /// The head that is sent.
  var head: RequestHead { OriginRequests.forwarded(incoming) }
  var isEmpty: Bool { head.framing == .length(0) }
}
