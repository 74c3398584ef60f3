package import CLinux

/// A new pawl that an older one has started to take over from it, as the older one sees it; and the words that both say over a
/// socket: the new one `prepared` when only the stores are missing, the old one `yours` when it has let go of them, the new one
/// `serving` at the end.
package final class Successor: Sendable {
  package enum Word: String, Sendable { case prepared, yours, serving }

  /// Why there is no answer.
  package enum Silence: Error, Hashable, Sendable { case ended, late }

  package let pid: pid_t
  private let line: SocketLine

  /// The variables by which the new process finds its sockets: the names of the listeners, one a line, whose descriptors begin at
  /// ``InheritedSockets/first``; and the number of the descriptor that leads to the old process.
  static let socketNames = "PAWL_HANDED_SOCKETS"
  static let lineNumber = "PAWL_HANDED_LINE"
  /// Variables that were meant for the old process.
  private static let notPassed = [
    "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", socketNames, lineNumber,
  ]

  private init(pid: pid_t, line: SocketLine) { (self.pid, self.line) = (pid, line) }

  /// Starts the program, which inherits these sockets and standard input, output and error, and nothing else.
  /// - Parameters:
  ///   - program: a path, or a name that is looked up in `PATH`.
  ///   - sockets: the listening sockets with their names.
  package static func start(
    _ program: String, _ arguments: [String], sockets: [(name: String, descriptor: CInt)]
  ) throws(LoopError) -> Successor {
    var ends: [CInt] = [-1, -1]
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .system(call: "socketpair", code: pawl_errno()) }
    let line = SocketLine(ends[0])
    let far = OwnedDescriptor(adopting: ends[1])
    let first = InheritedSockets.first
    let last = first + CInt(sockets.count)
    // Copies with numbers above those that the new process gets, so that no copy is overwritten before it is used.
    var copies: [CInt] = []
    defer { for copy in copies { close(copy) } }
    for descriptor in sockets.map(\.descriptor) + [far.raw] {
      let copy = pawl_fcntl(descriptor, F_DUPFD_CLOEXEC, last + 1)
      guard copy >= 0 else { throw .system(call: "fcntl", code: pawl_errno()) }
      copies.append(copy)
    }
    let environment =
      inheritedEnvironment() + [
        "\(socketNames)=\(sockets.map(\.name).joined(separator: "\n"))", "\(lineNumber)=\(last)",
      ]
    let (pid, code) = withCStrings(arguments) { arguments in
      withCStrings(environment) { environment in
        var pid: pid_t = 0
        let code = pawl_spawn(&pid, program, arguments, environment, copies, CInt(copies.count), first)
        return (pid, code)
      }
    }
    guard code == 0 else { throw .system(call: "posix_spawn \(program)", code: code) }
    return Successor(pid: pid, line: line)
  }

  private static func inheritedEnvironment() -> [String] {
    var all: [String] = []
    var index = 0
    while let entry = pawl_environment(index) {
      all.append(String(cString: entry))
      index += 1
    }
    return all.filter { entry in !notPassed.contains { entry.hasPrefix("\($0)=") } }
  }

  /// Waits for a word. Blocking.
  package func await(_ word: Word, within limit: Duration) throws(Silence) { try line.await(word, within: limit) }
  package func say(_ word: Word) { line.say(word) }

  /// Ends the process by force and waits for its end. Blocking.
  /// - Returns: how it ended, in words.
  package func end() -> String {
    kill(pid, SIGKILL)
    var status: CInt = 0
    while waitpid(pid, &status, 0) < 0, pawl_errno() == EINTR {}
    if status & 0x7f == 0 { return "exit status \(status >> 8 & 0xff)" }
    return "signal \(status & 0x7f)"
  }
}

/// The old pawl, as the new one that it has started sees it.
package final class Predecessor: Sendable {
  private let line: SocketLine

  private init(_ line: SocketLine) { self.line = line }

  /// `nil`: this process was started by itself.
  package static func fromEnvironment() -> Predecessor? {
    defer { unsetenv(Successor.lineNumber) }
    guard let value = getenv(Successor.lineNumber), let number = CInt(String(cString: value)), number > 2 else {
      return nil
    }
    _ = pawl_fcntl(number, F_SETFD, FD_CLOEXEC)
    return Predecessor(SocketLine(number))
  }

  /// Says that only the stores are missing, and waits until the old process has let go of them, or has ended: then the kernel has
  /// released its locks. Blocking.
  package func awaitStores() {
    line.say(.prepared)
    do throws(Successor.Silence) { try line.await(.yours, within: .seconds(3600)) } catch {}
  }

  package func saysServing() { line.say(.serving) }
}

/// One end of the socket between two pawls.
private final class SocketLine: Sendable {
  private let descriptor: OwnedDescriptor

  init(_ raw: CInt) { descriptor = OwnedDescriptor(adopting: raw) }

  func say(_ word: Successor.Word) {
    let bytes = Array("\(word.rawValue)\n".utf8)
    _ = send(descriptor.raw, bytes, bytes.count, pawl_MSG_NOSIGNAL)
  }

  /// Words are read byte by byte: they are few.
  func await(_ word: Successor.Word, within limit: Duration) throws(Successor.Silence) {
    let clock = SystemClock()
    let end = clock.now().advanced(by: limit)
    var text = ""
    while text != "\(word.rawValue)\n" {
      let left = end - clock.now()
      guard left > .zero else { throw .late }
      var watched = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
      let ready = poll(&watched, 1, CInt(clamping: left.components.seconds * 1000 + 100))
      guard ready > 0 else { continue }
      var byte: UInt8 = 0
      let count = recv(descriptor.raw, &byte, 1, 0)
      if count < 0, pawl_errno() == EINTR { continue }
      guard count == 1, text.utf8.count < 32 else { throw .ended }
      text.unicodeScalars.append(Unicode.Scalar(byte))
    }
  }
}

/// Calls `body` with the texts as a list of C strings that ends with a null pointer.
private func withCStrings<R>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
  let pointers = texts.map { strdup($0) }
  defer { for pointer in pointers { free(pointer) } }
  return body(pointers + [nil])
}
