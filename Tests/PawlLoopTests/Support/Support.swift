import CLinux
import Testing

@testable import PawlLoop

/// Turns `loop` on this thread until `isDone`; the suites' time limit ends what never comes.
func wait(_ loop: EventLoop, until isDone: () -> Bool) { loop.turn { !isDone() } }

/// Two connected stream sockets.
func socketPair() throws -> (CInt, CInt) {
  var pair: [CInt] = [-1, -1]
  let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
  try #require(socketpair(AF_UNIX, kind, 0, &pair) == 0)
  return (pair[0], pair[1])
}

/// Whether a descriptor is open in this process.
func isOpen(_ fd: CInt) -> Bool { pawl_fcntl(fd, F_GETFD, 0) >= 0 }

/// Whether the other end of a socket pair is closed, not only shut down.
func isHungUp(_ fd: CInt) -> Bool {
  var entry = pollfd(fd: fd, events: 0, revents: 0)
  return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLHUP) != 0
}

/// A stream that notes what happened, and what of it a test asks for.
final class Peer: StreamDelegate {
  let stream: SocketStream
  var received: [UInt8] = []
  var sawEnd = false
  var failure: CInt?
  var writableCount = 0
  var onReadable: (() -> Void)?
  var onWritable: (() -> Void)?

  init(_ fd: CInt, _ loop: EventLoop) {
    stream = SocketStream(adopting: fd, loop: loop)
    stream.delegate = self
  }

  init(_ stream: SocketStream) {
    self.stream = stream
    stream.delegate = self
  }

  func streamReadable() {
    if let onReadable { return onReadable() }
    readOnce()
  }

  func readOnce() {
    stream.loop.withReadBuffer { buffer in
      switch stream.read(into: buffer) {
      case .bytes(let count): received += UnsafeRawBufferPointer(rebasing: buffer[..<count])
      case .wouldBlock: break
      case .end: sawEnd = true
      case .failed(let code): failure = code
      }
    }
  }

  func streamWritable() {
    writableCount += 1
    onWritable?()
  }

  func send(_ text: String, more: Bool = false) -> IOResult {
    Array(text.utf8).withUnsafeBytes { stream.write($0, more: more) }
  }

  var text: String { String(decoding: received, as: UTF8.self) }
}

/// A folder for sockets that goes away with the test.
final class TemporaryFolder {
  let path: String
  init() throws {
    path = "/tmp/pawl-loop-\(Randomness.uint64())"
    try #require(mkdir(path, 0o700) == 0)
  }
  deinit {
    for name in ["socket", "file"] { unlink("\(path)/\(name)") }
    rmdir(path)
  }
}

/// Keeps threads waiting until it is opened.
final class Gate: Sendable {
  private let ends: (CInt, CInt)
  init() {
    var pair: [CInt] = [-1, -1]
    pipe(&pair)
    ends = (pair[0], pair[1])
  }
  deinit {
    close(ends.0)
    close(ends.1)
  }
  func wait() {
    var watched = pollfd(fd: ends.0, events: Int16(POLLIN), revents: 0)
    while poll(&watched, 1, -1) < 1 {}
  }
  func open() { _ = write(ends.1, "x", 1) }
}

/// The name of a TCP socket's congestion control.
func congestionControl(_ fd: CInt) -> String? {
  var name = [UInt8](repeating: 0, count: 16)
  var length = socklen_t(name.count)
  guard getsockopt(fd, CInt(IPPROTO_TCP), TCP_CONGESTION, &name, &length) == 0 else { return nil }
  return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
}

/// What a socket has that nobody has said anything to.
func systemCongestionControl() -> String? {
  let fd = OwnedDescriptor(adopting: openSocket(AF_INET))
  return congestionControl(fd.raw)
}
