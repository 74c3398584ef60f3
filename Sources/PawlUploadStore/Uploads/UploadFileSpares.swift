import CLinux
import PawlBase
import PawlDisk
import PawlLoop
import PawlObserve

/// Empty files of one spool, for uploads to come: where many come and go, file systems (ext4 without its journal) search
/// long for an inode that was not freed a moment ago, a sixth of what an upload of 1 MiB cost. All calls block: in the pool.
///
/// A file comes here empty, when nobody has it open any more and after it is on record that its upload is over: with
/// `durability = data` on the disk. Without, a power cut may undo the record, but not so that the old name stands for the
/// new bytes: file systems keep the order of both (where they have no journal, blocks are mixed up like that anyway).
final class UploadFileSpares: Sendable {
  /// Each holds a descriptor.
  static let limit = DescriptorLimit.spare(atMost: 256)

  private struct Spare: Sendable {
    let descriptor: CInt
    let path: String
  }

  private let place: StorePlace
  private let events: EventLog
  private let waiting = Locked([Spare]())
  private let count = Locked<UInt64>(0)

  init(in spool: StorePlace, _ events: EventLog) { (place, self.events) = (spool, events) }

  deinit { clear() }

  private var directory: String { place.path + "/spares" }

  /// Makes the directory, and drops what a process that was killed has left in it.
  func open() throws(StoreError) {
    try Files.makeDirectories(directory)
    for name in try Files.names(in: directory) { try Files.unlink("\(directory)/\(name)") }
  }

  /// An empty file, open for reading and writing, that is called `path`: one of those that wait, or else a new one.
  func file(called path: String) throws(StoreError) -> CInt {
    if let spare = waiting.withLock({ $0.popLast() }) {
      if pawl_rename_noreplace(spare.path, path) == 0 { return spare.descriptor }
      drop(spare.descriptor, spare.path)
    }
    return try Files.open(path, O_RDWR | O_CREAT | O_EXCL)
  }

  /// Frees what the file holds, and keeps or removes the file.
  func give(_ descriptor: CInt, _ path: String) {
    let isWanted = waiting.withLock { $0.count < Self.limit }
    guard isWanted, ftruncate(descriptor, 0) == 0 else { return drop(descriptor, path) }
    let spare = Spare(descriptor: descriptor, path: "\(directory)/\(nextNumber())")
    guard pawl_rename_noreplace(path, spare.path) == 0 else { return drop(descriptor, path) }
    let isKept = waiting.withLock { waiting in
      guard waiting.count < Self.limit else { return false }
      waiting.append(spare)
      return true
    }
    if !isKept { drop(descriptor, spare.path) }
  }

  /// At the end.
  func clear() {
    let spares = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for spare in spares { drop(spare.descriptor, spare.path) }
  }

  private func nextNumber() -> UInt64 {
    count.withLock { count in
      count += 1
      return count
    }
  }

  private func drop(_ descriptor: CInt, _ path: String) {
    UploadFile.unlink(path, events)
    close(descriptor)
  }
}
