import CLinux
import PawlBase
import PawlDisk
import PawlLoop
import PawlObserve

/// Keeps empty files of one spool for later uploads. If many files are created and removed, some file systems (ext4 without a
/// journal) search for a long time for an inode that was not freed a moment ago. This search was a sixth of the cost of an upload
/// of 1 MiB. All calls block, so they are made in the pool.
///
/// A file is emptied and kept when it is not open for its upload any more, and the end of the upload is recorded. With
/// `durability = data` that record is on disk by then. Otherwise a power cut may undo the record. Even then the old name does not
/// lead to bytes of the new upload, because file systems keep the order of the renaming and the writing. (Without a journal, a
/// power cut may mix up the blocks of files anyway.)
final class UploadFileSpares: Sendable {
  /// The most files that are kept. Each has an open descriptor.
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

  /// Makes the directory, and removes the files that a killed process has left in it.
  func open() throws(StoreError) {
    try Files.makeDirectories(directory)
    for name in try Files.names(in: directory) { try Files.unlink("\(directory)/\(name)") }
  }

  /// Returns an empty file named `path`, open for reading and writing: a spare one, or a new one.
  func file(called path: String) throws(StoreError) -> CInt {
    if let spare = waiting.withLock({ $0.popLast() }) {
      if pawl_rename_noreplace(spare.path, path) == 0 { return spare.descriptor }
      drop(spare.descriptor, spare.path)
    }
    return try Files.open(path, O_RDWR | O_CREAT | O_EXCL)
  }

  /// Empties the file, and keeps or removes it.
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

  /// Removes all spare files when the spool is closed.
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
