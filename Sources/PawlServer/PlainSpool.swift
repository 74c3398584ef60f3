import PawlLoop
import PawlStore

/// Room for ordinary uploads that are spooled before they are forwarded (`plain-uploads = spool`): in files without a
/// name beside the resumable ones, and out of the same `max-size` and `min-free`.
final class PlainSpool: Sendable {
  let directory: String
  /// Bytes.
  var capacity: UInt64 { store.capacity }
  private let store: UploadStore
  private let pool: WorkerPool
  private let spares = TemporaryFileSpares()

  init(directory: String, store: UploadStore, pool: WorkerPool) {
    (self.directory, self.store, self.pool) = (directory, store, pool)
  }

  /// An empty file; `nil` where there can be none now.
  func makeFile() -> SpooledContent? {
    TemporaryFile(in: directory, pool: pool, spares: spares).map { SpooledContent($0, store.makeRoom()) }
  }
}

/// The content of one ordinary upload. Written by one, then only read.
final class SpooledContent: Sendable {
  let file: TemporaryFile
  /// Given back with this.
  private let room: UploadRoom
  private let written = Locked<UInt64>(0)
  /// Octets.
  var count: UInt64 { written.withLock { $0 } }

  fileprivate init(_ file: TemporaryFile, _ room: UploadRoom) { (self.file, self.room) = (file, room) }

  /// From any thread; one at a time.
  /// - Returns: how long the system kept the thread for it; `nil`: there is no room.
  func append(_ bytes: UnsafeRawBufferPointer, by clock: any LoopClock) -> Duration? {
    guard room.grow(by: UInt64(bytes.count)) else { return nil }
    let start = written.withLock { written in
      defer { written += UInt64(bytes.count) }
      return written
    }
    let began = clock.now()
    return file.write(bytes, at: start) ? clock.now() - began : nil
  }
}
