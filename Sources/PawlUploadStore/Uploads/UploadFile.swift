import CLinux
import PawlDisk
import PawlLoop
import PawlObserve

/// The files under `bodies/`: their names are 32 hexadecimal digits, their mode is 0600. All calls block, so they are made in the
/// pool.
enum UploadFile {
  /// Creates an empty file; `durably`: also syncs its name.
  static func create(_ id: UploadID, durably: Bool, _ core: SpoolCore, _ charge: DiskCharge) throws(StoreError)
    -> UploadDescriptor
  {
    let raw = try core.spares.file(called: core.path(of: id))
    let descriptor = UploadDescriptor(adopting: raw, core, charge)
    if durably { try Files.syncDirectory(core.bodies) }
    return descriptor
  }

  static func unlink(_ path: String, _ events: EventLog) {
    do throws(StoreError) {
      try Files.unlink(path)
    } catch {
      events.log(.error, "upload-unlink-failed", ["path": path, "why": "\(error)"])
    }
  }

  /// Copies the first `count` bytes of one file to the offset `start` of another file, in the kernel if the file system supports
  /// that.
  static func copy(_ source: CInt, to target: CInt, at start: UInt64, count: UInt64) throws(StoreError) {
    var done: UInt64 = 0
    var buffer: [UInt8] = []
    while done < count {
      var (from, to) = (off64_t(clamping: done), off64_t(clamping: start + done))
      let step = Int(min(count - done, 1 << 30))
      let copied = copy_file_range(source, &from, target, &to, step, 0)
      if copied > 0 {
        done += UInt64(copied)
      } else if copied < 0, [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP].contains(pawl_errno()) {
        done += try pump(source, to: target, from: done, at: start + done, count: count - done, &buffer)
      } else if copied == 0 || pawl_errno() != EINTR {
        throw copied == 0 ? .system(call: "copy_file_range", path: "body", errno: EIO) : Files.failure("copy", "body")
      }
    }
  }

  /// Copies bytes through memory, at most 1 MiB. Returns how many bytes were copied.
  private static func pump(
    _ source: CInt, to target: CInt, from: UInt64, at offset: UInt64, count: UInt64, _ buffer: inout [UInt8]
  ) throws(StoreError) -> UInt64 {
    if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: 1 << 20) }
    var outcome = Result<UInt64, StoreError>.success(0)
    buffer.withUnsafeMutableBytes { whole in
      let piece = UnsafeMutableRawBufferPointer(rebasing: whole.prefix(Int(min(count, UInt64(whole.count)))))
      do throws(StoreError) {
        guard try Files.read(source, piece, at: from) == piece.count else {
          throw .system(call: "pread", path: "body", errno: EIO)
        }
        try Files.writeAll(target, UnsafeRawBufferPointer(piece), at: offset)
        outcome = .success(UInt64(piece.count))
      } catch {
        outcome = .failure(error)
      }
    }
    return try outcome.get()
  }
}

extension UploadFile {
  static func sync(_ descriptor: CInt, _ path: String) throws(StoreError) {
    guard fdatasync(descriptor) == 0 else { throw Files.failure("fdatasync", path) }
  }
}
