import COpenSSL

/// The BIO (OpenSSL's interface for input and output) between OpenSSL and a ``TLSEngine``. It reads from the socket, and gathers
/// what OpenSSL writes.
enum RecordBIO {
  private struct Method: @unchecked Sendable {
    // Safe: set up once, before its first use, and only read afterwards.
    let raw: OpaquePointer
  }

  private static let method: Method = {
    guard let raw = BIO_meth_new(BIO_get_new_index() | CInt(BIO_TYPE_SOURCE_SINK), "pawl records") else {
      preconditionFailure("out of memory")
    }
    BIO_meth_set_read(raw, readRecords)
    BIO_meth_set_write(raw, writeRecords)
    BIO_meth_set_ctrl(raw, controlRecords)
    BIO_meth_set_create(raw) { bio in
      BIO_set_init(bio, 1)
      return 1
    }
    return Method(raw: raw)
  }()

  /// Makes a BIO. The caller frees it, or passes it to the `SSL` of `engine`.
  static func make(for engine: TLSEngine) -> OpaquePointer {
    guard let bio = BIO_new(method.raw) else { preconditionFailure("out of memory") }
    // Safe: the engine outlives its `SSL`, and so the last use of this BIO.
    BIO_set_data(bio, Unmanaged.passUnretained(engine).toOpaque())
    return bio
  }

  fileprivate static func engine(of bio: OpaquePointer?) -> TLSEngine? {
    guard let bio, let pointer = BIO_get_data(bio) else { return nil }
    return Unmanaged<TLSEngine>.fromOpaque(pointer).takeUnretainedValue()
  }
}

private func readRecords(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: CInt) -> CInt {
  guard let engine = RecordBIO.engine(of: bio), let bytes, count > 0 else { return 0 }
  pawl_bio_clear_retry(bio)
  let result = engine.receive(UnsafeMutableRawPointer(bytes), Int(count))
  if case .wouldBlock = result { pawl_bio_retry_read(bio) }
  if case .bytes(let received) = result { return CInt(received) }
  return result == .end ? 0 : -1
}

private func writeRecords(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: CInt) -> CInt {
  guard let engine = RecordBIO.engine(of: bio), let bytes, count > 0 else { return 0 }
  pawl_bio_clear_retry(bio)
  engine.gather(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
  return count
}

private func controlRecords(
  _ bio: OpaquePointer?, _ command: CInt, _ number: Int, _ pointer: UnsafeMutableRawPointer?
) -> Int {
  command == BIO_CTRL_FLUSH ? 1 : 0
}
