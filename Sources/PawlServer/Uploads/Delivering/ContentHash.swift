import COpenSSL
import PawlUpload

/// Computes a digest of content, piece by piece. Belongs to one loop or one thread.
final class ContentHash {
  let algorithm: DigestAlgorithm
  private var crc = CRC32()
  /// `nil` for CRC32, and for an algorithm that libcrypto refuses on this machine (MD5 under FIPS).
  private let state: OpaquePointer?

  init(_ algorithm: DigestAlgorithm) {
    self.algorithm = algorithm
    guard let method = Self.method(algorithm), let made = EVP_MD_CTX_new() else {
      state = nil
      return
    }
    let isBegun = EVP_DigestInit_ex(made, method, nil) == 1
    if !isBegun { EVP_MD_CTX_free(made) }
    state = isBegun ? made : nil
  }

  /// Whether this machine can compute the digest.
  var isPossible: Bool { state != nil || algorithm == .crc32 }

  deinit { EVP_MD_CTX_free(state) }

  private static func method(_ algorithm: DigestAlgorithm) -> OpaquePointer? {
    switch algorithm {
    case .sha256: EVP_sha256()
    case .sha512: EVP_sha512()
    case .sha1: EVP_sha1()
    case .md5: EVP_md5()
    case .crc32: nil
    }
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    if let state {
      EVP_DigestUpdate(state, bytes.baseAddress, bytes.count)
    } else {
      crc.update(bytes)
    }
  }

  /// Returns the digest of all bytes, and ends the computation. A CRC is four bytes, the most significant first.
  func finish() -> [UInt8] {
    guard let state else { return isPossible ? crc.bytes : [] }
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    EVP_DigestFinal_ex(state, &digest, &length)
    return Array(digest[..<Int(length)])
  }
}

/// The CRC of zlib, PNG and Ethernet (polynomial 0xEDB88320, reflected), computed eight bytes at a time.
struct CRC32 {
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for index in 0..<256 {
      tables[index] = (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1
      }
    }
    for index in 256..<(8 * 256) {
      let value = tables[index - 256]
      tables[index] = value >> 8 ^ tables[Int(value & 0xff)]
    }
    return tables
  }()

  private var value = UInt32.max

  var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: ~value >> UInt32($0)) } }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var value = value
    Self.tables.withUnsafeBufferPointer { tables in
      var position = 0
      while bytes.count - position >= 8 {
        let low = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)) ^ value
        let high = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self))
        value =
          tables[7 * 256 + Int(low & 0xff)] ^ tables[6 * 256 + Int(low >> 8 & 0xff)]
          ^ tables[5 * 256 + Int(low >> 16 & 0xff)] ^ tables[4 * 256 + Int(low >> 24)]
        value ^=
          tables[3 * 256 + Int(high & 0xff)] ^ tables[2 * 256 + Int(high >> 8 & 0xff)]
          ^ tables[256 + Int(high >> 16 & 0xff)] ^ tables[Int(high >> 24)]
        position += 8
      }
      for byte in bytes[position...] { value = value >> 8 ^ tables[Int((value ^ UInt32(byte)) & 0xff)] }
    }
    self.value = value
  }
}
