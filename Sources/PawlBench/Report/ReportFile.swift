import CLinux

/// Reads and writes complete files, for reports. Blocks the calling thread.
package enum ReportFile {
  /// The path that means standard output.
  package static let standardOutput = "-"
  /// The largest file that is read. A result of an hour with the widest histogram has some megabytes.
  static let limit = 256 << 20

  /// Reads a file.
  /// - Throws: ``ReportError`` if the file cannot be opened or read, or is larger than ``limit``.
  package static func read(_ path: String) throws(ReportError) -> [UInt8] {
    let descriptor = pawl_open(path, O_RDONLY, 0)
    guard descriptor >= 0 else { throw .cannotRead(path: path, reason: reason()) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = CLinux.read(descriptor, &buffer, buffer.count)
      if count < 0, pawl_errno() == EINTR { continue }
      guard count >= 0 else { throw .cannotRead(path: path, reason: reason()) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= limit else { throw .cannotRead(path: path, reason: "larger than \(limit >> 20) MiB") }
    }
  }

  /// Replaces the content of a file; `-` is standard output.
  package static func write(_ text: String, to path: String) throws(ReportError) {
    guard path != standardOutput else {
      return try write(text, to: STDOUT_FILENO, path: "standard output")
    }
    let descriptor = try open(path, O_WRONLY | O_CREAT | O_TRUNC)
    defer { close(descriptor) }
    try write(text, to: descriptor, path: path)
  }

  /// Writes to standard error. If writing fails, nothing is reported: there is no other output for it.
  package static func tell(_ text: String) {
    do { try write(text, to: STDERR_FILENO, path: "standard error") } catch { return }
  }

  /// Checks that ``write(_:to:)`` will be able to write. Makes a missing file, and leaves an existing one unchanged.
  package static func checkWritable(_ path: String) throws(ReportError) {
    guard path != standardOutput else { return }
    close(try open(path, O_WRONLY | O_CREAT))
  }

  private static func open(_ path: String, _ flags: CInt) throws(ReportError) -> CInt {
    let descriptor = pawl_open(path, flags, 0o666)
    guard descriptor >= 0 else { throw .cannotWrite(path: path, reason: reason()) }
    return descriptor
  }

  private static func write(_ text: String, to descriptor: CInt, path: String) throws(ReportError) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { CLinux.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, pawl_errno() == EINTR { continue }
      guard count > 0 else { throw .cannotWrite(path: path, reason: reason()) }
      rest = rest.dropFirst(count)
    }
  }

  private static func reason() -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    let code = pawl_errno()
    guard let message = strerror_r(code, &buffer, buffer.count) else { return "error \(code)" }
    return String(cString: message)
  }
}
