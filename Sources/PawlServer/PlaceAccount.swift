import PawlHTTP
import PawlLoop
import PawlUpstream

/// On whose account a request has its place at an upstream: its client's, as uploads count it (``UploadClient``), and its path's.
/// All streams of an HTTP/2 connection are one client's.
enum PlaceAccount {
  /// Nobody outside knows which marks meet.
  private static let seed = Randomness.uint64() | 1

  static func holder(of request: IncomingRequest) -> PlaceHolder {
    PlaceHolder(client: client(of: request), path: lastsByNature(request.head) ? 0 : path(of: request))
  }

  private static func client(of request: IncomingRequest) -> UInt64 {
    guard request.isTrustedPeer else { return mark(request.client?.network ?? 0) }
    // A proxy that does not say who asks is nobody in particular.
    guard request.head.fields.contains(.xForwardedFor) else { return 0 }
    return mark(UploadClient.counted(UploadClient.address(of: request))[...])
  }

  /// Without the query: whoever varies that asks for the same.
  private static func path(of request: IncomingRequest) -> UInt64 {
    let target = request.head.target
    return mark(target.firstIndex(of: 0x3f).map { target[..<$0] } ?? target, from: mark(request.head.authority))
  }

  /// Tunnels and event streams are there to stay: many of one path are no sign that it is slow.
  private static func lastsByNature(_ head: RequestHead) -> Bool {
    head.fields.contains(.upgrade)
      || head.fields.first(.accept).map { $0.trimmed.hasPrefix("text/event-stream") } ?? false
  }

  private static func mark(_ number: UInt64) -> UInt64 {
    number == 0 ? 0 : mix(number) | 1 << 63
  }

  /// Eight octets at a time.
  private static func mark(_ octets: Bytes, from start: UInt64 = seed) -> UInt64 {
    octets.withUnsafeBytes { octets in
      var (hash, position) = (start ^ UInt64(octets.count), 0)
      while position + 8 <= octets.count {
        hash = mix(hash ^ octets.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        position += 8
      }
      var rest: UInt64 = 0
      for octet in octets[position...] { rest = rest << 8 | UInt64(octet) }
      return mix(hash ^ rest) | 1 << 63
    }
  }

  private static func mix(_ number: UInt64) -> UInt64 {
    let product = number.multipliedFullWidth(by: seed)
    return product.high ^ product.low
  }
}
