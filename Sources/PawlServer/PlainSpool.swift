import PawlLoop

/// Room for ordinary uploads that are spooled before they are forwarded (`plain-uploads = spool`): in files without a
/// name beside the resumable ones, together no larger than the spool may be.
final class PlainSpool: Sendable {
  let directory: String
  /// Bytes.
  let capacity: UInt64
  private let used = Locked<UInt64>(0)
  private let pool: WorkerPool

  init(directory: String, capacity: UInt64, pool: WorkerPool) {
    (self.directory, self.capacity, self.pool) = (directory, capacity, pool)
  }

  /// An empty file; `nil` where there can be none now.
  func makeFile() -> SpooledContent? {
    TemporaryFile(in: directory, pool: pool).map { SpooledContent($0, in: self) }
  }

  fileprivate func take(_ count: UInt64) -> Bool {
    used.withLock { used in
      guard count <= capacity, used <= capacity - count else { return false }
      used += count
      return true
    }
  }

  fileprivate func give(_ count: UInt64) { used.withLock { $0 -= count } }

  var bytesUsed: UInt64 { used.withLock { $0 } }
}

/// The content of one ordinary upload. Written by one, then only read.
final class SpooledContent: Sendable {
  let file: TemporaryFile
  private let spool: PlainSpool
  private let written = Locked<UInt64>(0)
  /// Octets.
  var count: UInt64 { written.withLock { $0 } }

  fileprivate init(_ file: TemporaryFile, in spool: PlainSpool) { (self.file, self.spool) = (file, spool) }

  deinit { spool.give(count) }

  /// `false`: there is no room for it.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard spool.take(UInt64(bytes.count)) else { return false }
    let start = written.withLock { written in
      defer { written += UInt64(bytes.count) }
      return written
    }
    return file.write(bytes, at: start)
  }
}
