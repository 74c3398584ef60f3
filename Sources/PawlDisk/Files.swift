import CLinux

/// Blocking file calls. Opening, reading and writing are repeated after `EINTR`; errors of the kernel are thrown. Do not make these
/// calls on a loop, except `writeAll` and `write`, which write into the page cache.
package enum Files {
  /// Returns the text of the C library for an error number.
  package static func text(of errno: CInt) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    guard let message = strerror_r(errno, &buffer, buffer.count) else { return "error \(errno)" }
    return String(cString: message)
  }

  /// Returns the error of the call that has just failed; ``StoreError/full`` if the disk or a quota has no space.
  package static func failure(_ call: String, _ path: String) -> StoreError {
    let code = pawl_errno()
    return code == ENOSPC || code == EDQUOT || code == EFBIG ? .full : .system(call: call, path: path, errno: code)
  }

  /// Opens the file; creates it with mode 0600 if `flags` have `O_CREAT`.
  package static func open(_ path: String, _ flags: CInt) throws(StoreError) -> CInt {
    while true {
      let descriptor = pawl_open(path, flags, 0o600)
      if descriptor >= 0 { return descriptor }
      guard pawl_errno() == EINTR else { throw failure("open", path) }
    }
  }

  /// Creates the directory and all missing directories above it, with mode 0700. Directories that exist are not changed.
  package static func makeDirectories(_ path: String) throws(StoreError) {
    if mkdir(path, 0o700) == 0 || pawl_errno() == EEXIST { return }
    guard pawl_errno() == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw failure("mkdir", path)
    }
    try makeDirectories(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || pawl_errno() == EEXIST else { throw failure("mkdir", path) }
  }

  /// Syncs a directory, so that the names in it survive a power cut.
  package static func syncDirectory(_ path: String) throws(StoreError) {
    let descriptor = try open(path, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("fsync", path) }
  }

  /// Syncs all files of the file system that a directory is on.
  package static func syncFileSystem(of path: String) throws(StoreError) {
    let descriptor = try open(path, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    guard syncfs(descriptor) == 0 else { throw failure("syncfs", path) }
  }

  /// Returns the size in bytes of an open regular file.
  package static func size(_ descriptor: CInt, _ path: String) throws(StoreError) -> UInt64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("fstat", path) }
    guard status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG), status.st_size >= 0 else {
      throw .system(call: "open", path: path, errno: EINVAL)
    }
    return UInt64(status.st_size)
  }

  /// Writes all bytes, or throws. Bytes written before an error stay in the file.
  package static func writeAll(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer, at offset: UInt64)
    throws(StoreError)
  {
    var done = 0
    try write(descriptor, bytes, at: offset, &done)
  }

  /// Writes all bytes of an array slice, as ``writeAll(_:_:at:)`` of a buffer does.
  package static func writeAll(
    _ descriptor: CInt, _ bytes: ArraySlice<UInt8>, at offset: UInt64
  ) throws(StoreError) {
    let outcome = bytes.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in try writeAll(descriptor, bytes, at: offset) }
    }
    try outcome.get()
  }

  /// Writes as ``writeAll(_:_:at:)`` does. `done` is the number of bytes written, also after an error.
  package static func write(
    _ descriptor: CInt, _ bytes: UnsafeRawBufferPointer, at offset: UInt64, _ done: inout Int
  ) throws(StoreError) {
    while done < bytes.count {
      let count = pwrite(
        descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(offset) + off_t(done))
      if count > 0 {
        done += count
      } else if count == 0 || pawl_errno() != EINTR {
        throw count == 0 ? .full : failure("pwrite", "body")
      }
    }
  }

  /// Writes the pieces one after the other, usually with one system call. Throws as ``writeAll(_:_:at:)`` does.
  package static func writeAll(
    _ descriptor: CInt, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer,
    _ third: UnsafeRawBufferPointer, at offset: UInt64
  ) throws(StoreError) {
    let pieces = [first, second, third]
    var vectors = pieces.map { iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count) }
    var done = max(0, pwritev(descriptor, &vectors, CInt(vectors.count), off_t(offset)))
    var start = offset
    // Write the bytes that `pwritev` has not written, if any. If it has failed, the same error comes again here, and is thrown.
    for piece in pieces {
      let skipped = min(done, piece.count)
      done -= skipped
      try writeAll(descriptor, UnsafeRawBufferPointer(rebasing: piece[skipped...]), at: start + UInt64(skipped))
      start += UInt64(piece.count)
    }
  }

  /// Reads until the buffer is full or the file ends. Returns the number of bytes read.
  package static func read(
    _ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StoreError) -> Int {
    var done = 0
    while done < buffer.count {
      let count = pread(
        descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset) + off_t(done))
      if count == 0 { break }
      if count > 0 {
        done += count
      } else if pawl_errno() != EINTR {
        throw failure("pread", "body")
      }
    }
    return done
  }

  /// Removes a file. A missing file is no error.
  package static func unlink(_ path: String) throws(StoreError) {
    guard CLinux.unlink(path) == 0 || pawl_errno() == ENOENT else { throw failure("unlink", path) }
  }

  /// Whether there is a file or directory of this name.
  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Whether the path names a regular file of 0 bytes.
  package static func isEmpty(_ path: String) -> Bool {
    var found = stat()
    return lstat(path, &found) == 0 && found.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) && found.st_size == 0
  }

  /// Returns the names in a directory, without `.` and `..`.
  package static func names(in path: String) throws(StoreError) -> [String] {
    guard let directory = opendir(path) else { throw failure("opendir", path) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// Returns the size of the file system, and what is free for this process, in bytes.
  package static func space(of path: String) throws(StoreError) -> (free: UInt64, total: UInt64) {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { throw failure("statvfs", path) }
    return (UInt64(status.f_bavail) * UInt64(status.f_frsize), UInt64(status.f_blocks) * UInt64(status.f_frsize))
  }
}
