import PawlHTTP
import PawlLoop
import PawlUploadStore
import PawlUpstream

/// On whose account a request has its place at an upstream: its client's, as uploads count it (``UploadClient``), and its path's.
/// All streams of an HTTP/2 connection are one client's.
enum PlaceAccount {
  /// Nobody outside knows which marks meet.
  private static let seed = Randomness.uint64() | 1

  static func holder(of request: IncomingRequest) -> PlaceHolder {
    PlaceHolder(client: client(of: request), path: path(of: request.head))
  }

  /// Of a completed upload on its way: its client's, as it was when the upload was made, and its target's. That client's
  /// other requests have the same marks.
  static func holder(of upload: UploadOrigin) -> PlaceHolder {
    let peer = SocketAddress.literal(upload.clientAddress[...].text, port: 0)
    return PlaceHolder(
      client: client(upload.head.fields, peer: peer, isTrusted: upload.peerIsTrusted), path: path(of: upload.head))
  }

  /// Of a question that pawl asks because of a request: its client's, and the question's own path.
  static func holder(of question: RequestHead, for request: IncomingRequest) -> PlaceHolder {
    PlaceHolder(client: client(of: request), path: path(of: question))
  }

  /// 0: nobody in particular.
  static func client(of request: IncomingRequest) -> UInt64 {
    client(request.head.fields, peer: request.client, isTrusted: request.isTrustedPeer)
  }

  private static func client(_ fields: Fields, peer: SocketAddress?, isTrusted: Bool) -> UInt64 {
    guard isTrusted else { return mark(peer?.network ?? 0) }
    // A proxy that does not say who asks is nobody in particular.
    guard fields.contains(.xForwardedFor) else { return 0 }
    return mark(UploadClient.counted(TrustedForwarding.client(in: fields) ?? Bytes(peer?.hostText ?? "-"))[...])
  }

  /// Without the query: whoever varies that asks for the same.
  private static func path(of head: RequestHead) -> UInt64 {
    if lastsByNature(head) { return 0 }
    let target = head.target
    return mark(target.firstIndex(of: 0x3f).map { target[..<$0] } ?? target, from: mark(head.authority))
  }

  /// Tunnels and event streams are there to stay: many of one path are no sign that it is slow.
  private static func lastsByNature(_ head: RequestHead) -> Bool {
    head.fields.contains(.upgrade) || LiveStream.isWanted(head.fields)
  }

  private static func mark(_ number: UInt64) -> UInt64 {
    number == 0 ? 0 : mix(number) | 1 << 63
  }

  /// Eight bytes at a time.
  private static func mark(_ bytes: Bytes, from start: UInt64 = seed) -> UInt64 {
    bytes.withUnsafeBytes { bytes in
      var (hash, position) = (start ^ UInt64(bytes.count), 0)
      while position + 8 <= bytes.count {
        hash = mix(hash ^ bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        position += 8
      }
      var rest: UInt64 = 0
      while position < bytes.count {
        rest = rest << 8 | UInt64(bytes[position])
        position += 1
      }
      return mix(hash ^ rest) | 1 << 63
    }
  }

  private static func mix(_ number: UInt64) -> UInt64 {
    let product = number.multipliedFullWidth(by: seed)
    return product.high ^ product.low
  }
}
