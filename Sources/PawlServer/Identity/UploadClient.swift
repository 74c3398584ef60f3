import PawlConfig
import PawlHTTP
import PawlLoop

/// Who counts for the limits that each client has.
enum UploadClient {
  /// What stands for who is known by nothing but its address.
  static func name(of request: IncomingRequest) -> [UInt8] { name(counted(address(of: request))) }

  static func name(_ who: [UInt8]) -> [UInt8] { Array(UploadNames.sha256(who)[..<16]) }

  /// The peer, or whom a trusted one names.
  static func address(of request: IncomingRequest) -> Bytes {
    let named = request.isTrustedPeer ? named(in: request.head.fields) : nil
    return named ?? Bytes(request.client?.hostText ?? "-")
  }

  /// Whom the peer names, if it is to be believed.
  static func named(in fields: Fields) -> Bytes? {
    guard let last = fields.combined(.xForwardedFor)?.split(separator: 0x2c).last?.trimmed, !last.isEmpty else {
      return nil
    }
    return last
  }

  /// As it counts: of IPv6 the network of 64 bits, which is one customer's.
  static func counted(_ address: Bytes) -> [UInt8] {
    guard let octets = NetworkAddress(address.text)?.octets, octets.count == 16 else { return Array(address) }
    return Array(octets[..<8])
  }
}
