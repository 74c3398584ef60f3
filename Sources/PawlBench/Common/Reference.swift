import CLinux

/// The expected bytes. Content that the client receives is compared with them.
package final class Reference: Sendable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var count: UInt64 { UInt64(bytes.count) }

  /// Whether `content` equals the bytes at `offset`.
  func matches(_ content: UnsafeBufferPointer<UInt8>, at offset: UInt64) -> Bool {
    guard content.count > 0 else { return true }
    guard offset <= count, UInt64(content.count) <= count - offset else { return false }
    return bytes.withUnsafeBufferPointer { own in
      guard let own = own.baseAddress, let other = content.baseAddress else { return false }
      // Safe: the range was checked above.
      return memcmp(own + Int(offset), other, content.count) == 0
    }
  }

  /// Reads the reference from a file.
  /// - Throws: ``RunProblem`` if the file cannot be read completely.
  package convenience init(file path: String) throws(RunProblem) {
    let descriptor = pawl_open(path, O_RDONLY, 0)
    guard descriptor >= 0 else { throw RunProblem("\(path): \(errorText(pawl_errno()))") }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & UInt32(S_IFMT) == UInt32(S_IFREG) else {
      throw RunProblem("\(path): not a file")
    }
    let size = Int(facts.st_size)
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
      while filled < size, let base = buffer.baseAddress {
        let count = read(descriptor, base + filled, size - filled)
        if count > 0 { filled += count } else if count == 0 || pawl_errno() != EINTR { break }
      }
    }
    guard bytes.count == size else { throw RunProblem("\(path): could not be read whole") }
    self.init(bytes)
  }
}

/// The reason why a run could not begin or go on, as one sentence for the terminal.
package struct RunProblem: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

func errorText(_ code: CInt) -> String { String(cString: strerror(code)) }
