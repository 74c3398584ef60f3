package import CLinux
import PawlBase

/// A new pawl that an older one has started to take over from it, as the older one sees it; and the words that both say over a
/// socket: the new one `prepared` when only the stores are missing, the old one `yours` when it has let go of them, the new one
/// `serving` and its process at the end.
///
/// An old process that can lend deliveries says so in the environment of the new one, with the versions of the messages about them
/// (``lendingVersions``). A new process that knows one of these says `prepared borrowing=1` instead of `prepared`. Then the list of
/// what is lent follows `yours`, and the socket stays open for messages after `serving` (``ProcessLine``). Between two versions of
/// pawl that do not agree nothing is lent.
package final class Successor: Sendable {
  package enum Word: String, Sendable { case prepared, yours, serving, failed }

  /// Why there is no answer.
  package enum Silence: Error, Hashable, Sendable {
    case ended, late
    /// The new process says what is wrong: a line without control characters, of at most ``longestReason`` bytes.
    case failed(String)
  }

  /// The longest reason that a new process gives, in bytes.
  package static let longestReason = 1024

  package let pid: pid_t
  private let line: SocketLine

  /// The variables by which the new process finds its sockets: the names of the listeners, one a line, whose descriptors begin at
  /// ``InheritedSockets/first``; and the number of the descriptor that leads to the old process.
  static let socketNames = "PAWL_HANDED_SOCKETS"
  static let lineNumber = "PAWL_HANDED_LINE"
  /// The versions of the messages about lent deliveries that the old process can send, with a space between them.
  static let lendingVersions = "PAWL_HANDED_LENDING"
  /// The version of those messages in this program.
  static let lendingVersion = "1"
  /// What a new process that can borrow says behind `prepared`.
  fileprivate static let canBorrow = "borrowing=\(lendingVersion)"
  /// The variable with the process between the old and the new one (``Predecessor/stepAside()``).
  static let between = "PAWL_HANDED_PARENT"
  /// Variables that were meant for the old process.
  private static let notPassed = [
    "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", socketNames, lineNumber, lendingVersions, between,
  ]

  private init(pid: pid_t, line: SocketLine) { (self.pid, self.line) = (pid, line) }

  /// A new process of which only the socket is there, for tests.
  convenience init(testing line: CInt) { self.init(pid: -1, line: SocketLine(line)) }

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
        "\(lendingVersions)=\(lendingVersion)",
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

  /// Waits until only the stores are missing. Blocking.
  /// - Returns: whether the new process can borrow deliveries.
  package func awaitPrepared(within limit: Duration) throws(Silence) -> Bool {
    try line.await(.prepared, within: limit) == Self.canBorrow
  }

  /// Waits until the new process serves. Blocking.
  /// - Returns: the process that serves. It is a child of this one only if it has not stepped aside.
  package func awaitServing(within limit: Duration) throws(Silence) -> pid_t {
    guard let named = try line.await(.serving, within: limit).flatMap(pid_t.init), named > 1, named != pid else {
      return pid
    }
    // The process between has ended.
    _ = wait()
    return named
  }

  package func say(_ word: Word) { line.say(word) }

  /// Says that the stores are free, and what is lent. Only to a process that can borrow (``awaitPrepared(within:)``).
  /// - Parameter list: at most ``Predecessor/largestList`` bytes.
  package func sayYours(lending list: [UInt8]) {
    line.say(.yours)
    line.give(list)
  }

  /// Returns the descriptor of the socket for a ``ProcessLine``, which closes it; `nil`: it was taken before. No more words can be
  /// said.
  package func takeLine() -> CInt? { line.take() }

  /// Ends the process by force and waits for its end. Blocking.
  /// - Returns: how it ended, in words.
  /// - Parameter patience: how long it may take to end by itself, because it says that it does.
  package func end(patience: Duration = .zero) -> String {
    let clock = SystemClock()
    let limit = clock.now().advanced(by: patience)
    while clock.now() < limit {
      var status: CInt = 0
      if waitpid(pid, &status, WNOHANG) == pid { return Self.told(status) }
      usleep(5000)
    }
    kill(pid, SIGKILL)
    return Self.told(wait())
  }

  private static func told(_ status: CInt) -> String {
    status & 0x7f == 0 ? "exit status \(status >> 8 & 0xff)" : "signal \(status & 0x7f)"
  }

  /// Returns a reason as one line of printable text, cut to ``longestReason``.
  static func reason(_ text: String) -> String {
    var (line, size) = ("", 0)
    for scalar in text.unicodeScalars {
      let shown = scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) ? " " : scalar
      size += UTF8.width(shown)
      guard size <= longestReason else { break }
      line.unicodeScalars.append(shown)
    }
    return line
  }

  private func wait() -> CInt {
    var status: CInt = 0
    while waitpid(pid, &status, 0) < 0, pawl_errno() == EINTR {}
    return status
  }
}

/// The old pawl, as the new one that it has started sees it.
package final class Predecessor: Sendable {
  /// The largest list of what is lent, in bytes.
  package static let largestList = 1 << 20

  private let line: SocketLine
  /// Whether the old process can send messages of this program's version.
  private let canLend: Bool

  /// The old process, held so that no other one with its number is meant; `nil`: it is not known.
  private let process: OldProcess?

  /// The process between the old one and this one; `nil`: the old one is the parent.
  private let between: pid_t?

  /// - Parameters:
  ///   - descriptor: the socket to the old process.
  ///   - versions: the versions of the messages that the old process can send, with a space between them.
  init(_ descriptor: CInt, versions: String, between: pid_t? = nil) {
    line = SocketLine(descriptor)
    canLend = versions.split(separator: " ").contains { $0 == Successor.lendingVersion }
    self.between = between
    process = OldProcess(behind: descriptor)
  }

  /// The old process, while it has not ended. Any thread.
  package var drainingProcess: pid_t? { process.flatMap { $0.hasEnded ? nil : $0.pid } }

  /// Forks if an older pawl has started this process, and returns in the child. The parent stays between the two: it ends as its
  /// child does, which ends with it, until the child serves and leaves it (``saysServing()``). Then the child belongs to process 1, or to
  /// the service manager: systemd waits for the end of a main process, and notices it, only if it is a child of its own. Called before
  /// there are other threads.
  package static func stepAside() {
    guard getenv(Successor.lineNumber) != nil, getenv(Successor.between) == nil else { return }
    let parent = getpid()
    let child = pawl_fork()
    if child > 0 {
      var status: CInt = 0
      while waitpid(child, &status, 0) < 0, pawl_errno() == EINTR {}
      if status & 0x7f != 0 { kill(parent, status & 0x7f) }
      _exit(status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f))
    }
    guard child == 0 else { return }  // Without it everything works, except that systemd does not notice the end.
    if pawl_parent_end_signal(SIGKILL) != 0 || getppid() != parent { _exit(1) }
    setenv(Successor.between, "\(parent)", 1)
  }

  /// `nil`: this process was started by itself.
  package static func fromEnvironment() -> Predecessor? {
    defer {
      unsetenv(Successor.lineNumber)
      unsetenv(Successor.lendingVersions)
      unsetenv(Successor.between)
    }
    guard let value = getenv(Successor.lineNumber), let number = CInt(String(cString: value)), number > 2 else {
      return nil
    }
    _ = pawl_fcntl(number, F_SETFD, FD_CLOEXEC)
    let between = getenv(Successor.between).flatMap { pid_t(String(cString: $0)) }
    return Predecessor(
      number, versions: getenv(Successor.lendingVersions).map { String(cString: $0) } ?? "",
      between: between == getppid() ? between : nil)
  }

  /// Says that only the stores are missing, and waits until the old process has let go of them, or has ended: then the kernel has
  /// released its locks. Blocking.
  /// - Returns: the list of what the old process has lent; `nil`: it lends nothing, or has ended.
  /// - Throws: ``LoopError`` if the list is too long. The stores must not be opened then, because the old process uses parts of them.
  package func awaitStores() throws(LoopError) -> [UInt8]? {
    line.say(.prepared, canLend ? Successor.canBorrow : nil)
    do throws(Successor.Silence) { _ = try line.await(.yours, within: .seconds(3600)) } catch { return nil }
    return canLend ? try line.receive(atMost: Self.largestList) : nil
  }

  /// Leaves the process between, and says that this one serves. Blocking, for as long as the kernel takes to end a process.
  package func saysServing() {
    if let between, pawl_parent_end_signal(0) == 0 {
      kill(between, SIGKILL)
      // The old process names this one to the service manager, which looks whose child it is.
      while getppid() == between { usleep(200) }
    }
    line.say(.serving, "\(getpid())")
  }

  /// Says why this process cannot serve, and ends now. An old process of another version takes that for its end.
  package func saysFailed(_ why: String) { line.say(.failed, Successor.reason(why)) }

  /// The same before ``fromEnvironment()`` was called. Does nothing if no older pawl has started this process.
  package static func saysFailedEarly(_ why: String) {
    guard let value = getenv(Successor.lineNumber), let number = CInt(String(cString: value)), number > 2 else {
      return
    }
    let copy = pawl_fcntl(number, F_DUPFD_CLOEXEC, 3)
    if copy >= 0 { SocketLine(copy).say(.failed, Successor.reason(why)) }
  }

  /// Returns the descriptor of the socket for a ``ProcessLine``, which closes it; `nil`: the old process sends no messages, or the
  /// descriptor was taken before. No more words can be said.
  package func takeLine() -> CInt? { canLend ? line.take() : nil }
}

/// A process, held so that its number is not taken for that of another one.
private final class OldProcess: Sendable {
  let pid: pid_t
  private let descriptor: OwnedDescriptor

  /// The process that made a socket pair.
  init?(behind socket: CInt) {
    let peer = pawl_peer_process(socket)
    let raw = peer > 1 ? pawl_pidfd_open(peer) : -1
    guard raw >= 0 else { return nil }
    pid = peer
    descriptor = OwnedDescriptor(adopting: raw)
  }

  var hasEnded: Bool {
    var watched = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, 0) != 0
  }
}

/// One end of the socket between two pawls.
private final class SocketLine: Sendable {
  private let descriptor: Locked<CInt>

  init(_ raw: CInt) { descriptor = Locked(raw) }
  deinit { if let raw = take() { close(raw) } }

  private var raw: CInt { descriptor.withLock { $0 } }

  func take() -> CInt? {
    descriptor.withLock { descriptor in
      defer { descriptor = -1 }
      return descriptor < 0 ? nil : descriptor
    }
  }

  func say(_ word: Successor.Word, _ value: String? = nil) {
    write(Array("\(word.rawValue)\(value.map { " \($0)" } ?? "")\n".utf8))
  }

  /// Sends bytes after their number.
  func give(_ bytes: [UInt8]) { write(ProcessLine.header(bytes.count) + bytes) }

  /// A peer that has ended is noticed by the next call that reads.
  private func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(raw, $0.baseAddress, $0.count, pawl_MSG_NOSIGNAL) }
      if count > 0 { rest = rest.dropFirst(count) } else if pawl_errno() != EINTR { return }
    }
  }

  /// Reads what ``give(_:)`` has sent; `nil`: the peer has ended.
  func receive(atMost limit: Int) throws(LoopError) -> [UInt8]? {
    guard let header = read(ProcessLine.headerSize) else { return nil }
    guard let count = ProcessLine.count(header), count <= limit else {
      throw .system(call: "receive", code: EMSGSIZE)
    }
    return read(count)
  }

  private func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = bytes.withUnsafeMutableBytes { recv(raw, $0.baseAddress.map { $0 + done }, count - done, 0) }
      if got > 0 { done += got } else if got == 0 || pawl_errno() != EINTR { return nil }
    }
    return bytes
  }

  /// Words are read byte by byte: they are few, and what follows them is not for this function.
  /// - Returns: the value behind the word, if it has one. Another word ends the wait like the end of the peer.
  func await(_ word: Successor.Word, within limit: Duration) throws(Successor.Silence) -> String? {
    let clock = SystemClock()
    let end = clock.now().advanced(by: limit)
    var text: [UInt8] = []
    let failed = Array("\(Successor.Word.failed.rawValue) ".utf8)
    while true {
      let left = end - clock.now()
      guard left > .zero else { throw .late }
      var watched = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
      let ready = poll(&watched, 1, CInt(clamping: left.components.seconds * 1000 + 100))
      guard ready > 0 else { continue }
      var byte: UInt8 = 0
      let count = recv(raw, &byte, 1, 0)
      if count < 0, pawl_errno() == EINTR { continue }
      guard count == 1, text.count < 32 || text.starts(with: failed) && text.count <= Successor.longestReason + 32
      else {
        throw .ended
      }
      if byte == UInt8(ascii: "\n") {
        let line = String(decoding: text, as: UTF8.self)
        if text.starts(with: failed) { throw .failed(Successor.reason(String(line.dropFirst(failed.count)))) }
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.first.map(String.init) == word.rawValue else { throw .ended }
        return parts.count > 1 ? String(parts[1]) : nil
      }
      text.append(byte)
    }
  }
}

/// Calls `body` with the texts as a list of C strings that ends with a null pointer.
private func withCStrings<R>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
  let pointers = texts.map { strdup($0) }
  defer { for pointer in pointers { free(pointer) } }
  return body(pointers + [nil])
}
