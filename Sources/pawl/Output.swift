import CLinux

/// Standard output. What cannot be written, because a disk is full for instance, ends the program with an error.
enum Output {
  /// Writes out what was printed.
  static func flush() throws(RunFailure) {
    let code = pawl_flush_output()
    guard code != 0 else { return }
    let why = code > 0 ? ": \(String(cString: strerror(code)))" : ""
    throw RunFailure(.failure, "cannot write to standard output\(why)")
  }

  /// Writes out what was printed, and forgets that it could not be: for a server, which goes on.
  static func flushIfPossible() {
    fflush(nil)
    pawl_clear_output()
  }
}
