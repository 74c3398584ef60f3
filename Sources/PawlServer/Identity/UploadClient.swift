import PawlConfig
import PawlHTTP
import PawlLoop
import PawlTLS

/// Identifies a client for the limits that each client has.
enum UploadClient {
  /// The name of a client that is known by its address only.
  static func name(of request: IncomingRequest) -> [UInt8] { name(counted(request.clientAddress)) }

  static func name(_ who: [UInt8]) -> [UInt8] { Array(SHA256.digest(who)[..<16]) }

  /// Returns the part of an address for which the limits are counted: of an IPv6 address only the 64-bit network, because one
  /// customer has all addresses of such a network.
  static func counted(_ address: Bytes) -> [UInt8] {
    guard let bytes = NetworkAddress(address.text)?.bytes, bytes.count == 16 else { return Array(address) }
    return Array(bytes[..<8])
  }
}
