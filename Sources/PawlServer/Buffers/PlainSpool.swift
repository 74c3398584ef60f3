import PawlBase
import PawlLoop
import PawlUploadStore

/// Room for ordinary uploads that are spooled before they are forwarded (`plain-uploads = spool`): in files without a
/// name beside the resumable ones, and out of the same `max-size` and `min-free`.
final class PlainSpool: Sendable {
  let directory: String
  /// Bytes of the largest content that one client can bring.
  var capacity: UInt64 { store.largestUpload }
  private let store: UploadStore
  private let pool: WorkerPool
  private let spares = TemporaryFileSpares()

  init(directory: String, store: UploadStore, pool: WorkerPool) {
    (self.directory, self.store, self.pool) = (directory, store, pool)
  }

  /// An empty file; `nil` where there can be none now.
  /// - Parameter client: for whose share it counts.
  func makeFile(for client: [UInt8]) -> SpooledContent? {
    TemporaryFile(in: directory, pool: pool, spares: spares).map { SpooledContent($0, store.makeRoom(for: client)) }
  }
}

/// The content of one ordinary upload. Written by one, then only read.
final class SpooledContent: Sendable {
  let file: TemporaryFile
  /// Given back with this.
  private let room: SpoolRoom
  private let written = Locked<UInt64>(0)
  /// Bytes.
  var count: UInt64 { written.withLock { $0 } }

  fileprivate init(_ file: TemporaryFile, _ room: SpoolRoom) { (self.file, self.room) = (file, room) }

  /// From any thread; one at a time.
  /// - Returns: how long the system kept the thread for it, or why there is no room.
  func append(
    _ bytes: UnsafeRawBufferPointer, by clock: any LoopClock
  ) -> Result<Duration, UploadStoreRefusal> {
    if let refusal = room.grow(by: UInt64(bytes.count)) { return .failure(refusal) }
    let start = written.withLock { written in
      defer { written += UInt64(bytes.count) }
      return written
    }
    let began = clock.now()
    return file.write(bytes, at: start) ? .success(clock.now() - began) : .failure(.full)
  }
}
