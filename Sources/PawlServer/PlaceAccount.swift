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
    return mark(UploadClient.counted(UploadClient.address(of: request)))
  }

  /// Without the query: whoever varies that asks for the same.
  private static func path(of request: IncomingRequest) -> UInt64 {
    mark(request.head.target.prefix { $0 != 0x3f }, from: mark(request.head.authority))
  }

  /// Tunnels and event streams are there to stay: many of one path are no sign that it is slow.
  private static func lastsByNature(_ head: RequestHead) -> Bool {
    head.fields.contains(.upgrade)
      || head.fields.first(.accept).map { $0.trimmed.hasPrefix("text/event-stream") } ?? false
  }

  private static func mark(_ number: UInt64) -> UInt64 {
    guard number != 0 else { return 0 }
    let product = number.multipliedFullWidth(by: seed)
    return (product.high ^ product.low) | 1 << 63
  }

  /// FNV-1a, seeded.
  private static func mark(_ octets: some Sequence<UInt8>, from start: UInt64 = 0xcbf2_9ce4_8422_2325 ^ seed) -> UInt64
  {
    octets.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } | 1 << 63
  }
}
