import PawlConfig
import PawlHTTP
import PawlLoop
import PawlTLS

/// Who counts for the limits that each client has.
enum UploadClient {
  /// What stands for who is known by nothing but its address.
  static func name(of request: IncomingRequest) -> [UInt8] { name(counted(request.clientAddress)) }

  static func name(_ who: [UInt8]) -> [UInt8] { Array(SHA256.digest(who)[..<16]) }

  /// As it counts: of IPv6 the network of 64 bits, which is one customer's.
  static func counted(_ address: Bytes) -> [UInt8] {
    guard let bytes = NetworkAddress(address.text)?.bytes, bytes.count == 16 else { return Array(address) }
    return Array(bytes[..<8])
  }
}
