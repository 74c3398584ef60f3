import PawlHTTP
import PawlLoop
import PawlUploadStore
import PawlUpstream

/// Makes the accounts that a request's place at an upstream counts for: its client, identified as for uploads (``UploadClient``),
/// and its path. Each account is a mark, which is a 64-bit hash. All streams of an HTTP/2 connection count for one client.
enum PlaceMarks {
  /// A random seed, so that clients cannot choose names whose marks collide.
  private static let seed = Randomness.uint64() | 1

  static func holder(of request: IncomingRequest) -> PlaceHolder {
    PlaceHolder(client: client(of: request), path: path(of: request.head))
  }

  /// The accounts of a delivery: the client that created the upload, and the path of the upload's target. Other requests of that
  /// client have the same client mark.
  static func holder(of upload: UploadOrigin) -> PlaceHolder {
    let peer = SocketAddress.literal(upload.clientAddress[...].text, port: 0)
    return PlaceHolder(
      client: client(upload.head.fields, peer: peer, isTrusted: upload.peerIsTrusted), path: path(of: upload.head))
  }

  /// The accounts of a request that pawl itself makes because of a client's request: that client, and the path of pawl's request.
  static func holder(of question: RequestHead, for request: IncomingRequest) -> PlaceHolder {
    PlaceHolder(client: client(of: request), path: path(of: question))
  }

  /// The mark of the request's client. 0: the client is not known, so no share applies.
  static func client(of request: IncomingRequest) -> UInt64 {
    client(request.head.fields, peer: request.client, isTrusted: request.isTrustedPeer)
  }

  private static func client(_ fields: Fields, peer: SocketAddress?, isTrusted: Bool) -> UInt64 {
    guard isTrusted else { return mark(peer?.network ?? 0) }
    // The trusted proxy does not name its client.
    guard fields.contains(.xForwardedFor) else { return 0 }
    return mark(UploadClient.counted(TrustedForwarding.client(in: fields) ?? Bytes(peer?.hostText ?? "-"))[...])
  }

  /// The mark of the path, without the query, because requests that differ only in the query usually are for the same resource of
  /// the application. 0: no share applies.
  private static func path(of head: RequestHead) -> UInt64 {
    if lastsByNature(head) { return 0 }
    let target = head.target
    return mark(target.firstIndex(of: 0x3f).map { target[..<$0] } ?? target, from: mark(head.authority))
  }

  /// Whether the request is for a tunnel or an event stream. Such requests always last long. If a path has many of them, that
  /// does not show that the path is slow.
  private static func lastsByNature(_ head: RequestHead) -> Bool {
    head.fields.contains(.upgrade) || LiveStream.isWanted(head.fields)
  }

  private static func mark(_ number: UInt64) -> UInt64 {
    number == 0 ? 0 : mix(number) | 1 << 63
  }

  /// Hashes bytes, eight at a time.
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
