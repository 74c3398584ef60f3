import CLinux
import PawlCacheStore
import PawlLoop

/// Compares bytes that came again with the held bytes in the file, or with the summary of bytes that were not stored.
enum StoredComparison {
  /// - Parameters:
  ///   - streamed: the summary of bytes that are in no file; the bytes before its start are in the file of `body`.
  ///   - fetch: the fetch that gets the result later, if the comparison has to wait for the disk.
  static func compare(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, with body: StoredBody, then streamed: inout DeliveredMemory?,
    for fetch: OriginFetch
  ) -> Comparison {
    guard let start = streamed?.start, offset + UInt64(bytes.count) > start else {
      return compareStored(bytes, at: offset, body, fetch)
    }
    let stored = offset < start ? Int(start - offset) : 0
    let rest = UnsafeRawBufferPointer(rebasing: bytes[stored...])
    guard streamed?.agrees(rest, at: offset + UInt64(stored)) == true else { return .different }
    return stored == 0
      ? .equal : compareStored(UnsafeRawBufferPointer(rebasing: bytes[..<stored]), at: offset, body, fetch)
  }

  /// Compares at once if the page cache has the bytes, otherwise in the pool.
  private static func compareStored(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, _ body: StoredBody, _ fetch: OriginFetch
  ) -> Comparison {
    let range = offset..<offset + UInt64(bytes.count)
    if let equal = compareNow(bytes, at: offset, body, fetch.services.loop) { return equal ? .equal : .different }
    let copy = Array(bytes)
    fetch.services.pool.run(
      {
        var held = [UInt8](repeating: 0, count: copy.count)
        // The stored bytes may be unverified, because they are compared with the origin's own bytes.
        let count = held.withUnsafeMutableBytes { body.readUnverified(range, into: $0) }
        return count == copy.count && held == copy
      }, then: fetch.services.loop
    ) { [weak fetch] equal in fetch?.compared(equal: equal) }
    return .later
  }

  private static func compareNow(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, _ body: StoredBody, _ loop: EventLoop
  ) -> Bool? {
    let slice = body.slice(offset..<offset + UInt64(bytes.count))
    var held = loop.takeReadBuffer()
    defer { loop.giveReadBuffer(held) }
    guard slice.fd >= 0, bytes.count <= held.count else { return nil }
    let count = held.withUnsafeMutableBytes { pawl_pread_nowait(slice.fd, $0.baseAddress, bytes.count, off_t(offset)) }
    guard count == bytes.count else { return nil }
    return held.withUnsafeBytes { held in
      guard let a = held.baseAddress, let b = bytes.baseAddress else { return true }
      return memcmp(a, b, bytes.count) == 0
    }
  }
}
