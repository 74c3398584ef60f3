import COpenSSL
import PawlLoop

/// Encrypts bytes that wait in a file, with AES-256 in counter mode. The encryption key exists only in memory and is used for one
/// transfer. All written bytes have to be read, in the same order. Used on one loop only.
final class BufferCipher {
  private let writing: OpaquePointer
  private let reading: OpaquePointer

  /// Returns `nil` where libcrypto fails.
  init?() {
    guard let writing = EVP_CIPHER_CTX_new() else { return nil }
    guard let reading = EVP_CIPHER_CTX_new() else {
      EVP_CIPHER_CTX_free(writing)
      return nil
    }
    (self.writing, self.reading) = (writing, reading)
    let (key, start) = (Randomness.bytes(32), Randomness.bytes(16))
    let isReady = [writing, reading].allSatisfy { EVP_EncryptInit_ex($0, EVP_aes_256_ctr(), nil, key, start) == 1 }
    guard isReady else { return nil }
  }

  deinit {
    EVP_CIPHER_CTX_free(writing)
    EVP_CIPHER_CTX_free(reading)
  }

  /// Encrypts the next bytes to write.
  func seal(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? { Self.apply(writing, bytes) }

  /// Decrypts the next bytes read.
  func open(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? { Self.apply(reading, bytes) }

  private static func apply(_ state: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    guard bytes.count <= 1 << 30, let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return [] }
    var isDone = false
    let made = [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
      var produced: CInt = 0
      isDone = EVP_EncryptUpdate(state, buffer.baseAddress, &produced, start, CInt(bytes.count)) == 1
      count = isDone ? Int(produced) : 0
    }
    return isDone && made.count == bytes.count ? made : nil
  }
}
