import PawlBase
import PawlLoop
import PawlUploadStore

/// The space on disk for ordinary uploads that are spooled before they are forwarded (`plain-uploads = spool`): files without a
/// name in the directory of the resumable uploads, within the same `max-size` and `min-free`.
final class PlainSpool: Sendable {
  let directory: String
  /// The largest content of one client, in bytes.
  var capacity: UInt64 { store.largestUpload }
  private let store: UploadStore
  private let pool: WorkerPool
  private let spares = TemporaryFileSpares()

  init(directory: String, store: UploadStore, pool: WorkerPool) {
    (self.directory, self.store, self.pool) = (directory, store, pool)
  }

  /// Makes an empty file; returns `nil` if that fails now.
  /// - Parameter client: the client whose share of the spool the file uses.
  func makeFile(for client: [UInt8]) -> SpooledContent? {
    TemporaryFile(in: directory, pool: pool, spares: spares).map { SpooledContent($0, store.makeRoom(for: client)) }
  }
}

/// The content of one ordinary upload. Has one writer; read only when it is complete.
final class SpooledContent: Sendable {
  let file: TemporaryFile
  /// The reserved space on disk; given back when this object is freed.
  private let room: SpoolRoom
  private let written = Locked<UInt64>(0)
  /// Bytes.
  var count: UInt64 { written.withLock { $0 } }

  fileprivate init(_ file: TemporaryFile, _ room: SpoolRoom) { (self.file, self.room) = (file, room) }

  /// Appends bytes. On any thread; one call at a time.
  /// - Returns: how long the write took, or why there is no space.
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
