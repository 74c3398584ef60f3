import CLinux

/// An origin with blocking sockets and threads of its own that plays one script for each connection, in the order in
/// which they are accepted. A script's end closes its connection; connections beyond the scripts are closed at once.
package final class ScriptedOrigin: Sendable {
  package enum Address: Sendable {
    /// A port of 127.0.0.1 that the kernel chooses.
    case tcp
    /// An abstract unix socket of its own.
    case unix
  }

  private struct State {
    var threads: [TestThread] = []
    var accepted = 0
    var received: [[UInt8]] = []
    var failures: [String] = []
    var patternSent = 0
    var handshakes: [ScriptedTLS.Handshake] = []
    var isFinished = false
  }

  /// 0 for a unix socket.
  package let port: UInt16
  /// As in `unix:PATH`; empty for TCP.
  package let unixPath: String
  private let listener: CInt
  private let scripts: [[OriginStep]]
  private let state = TestLock(State())

  private let tls: ScriptedTLS?

  /// - Parameter tls: what connections are protected with; a handshake that fails fails the test, unless its script is
  ///   empty.
  package convenience init(_ address: Address = .tcp, tls: ScriptedTLS? = nil, _ scripts: [OriginStep]...) {
    self.init(address, tls: tls, scripts: scripts)
  }

  package init(_ address: Address = .tcp, tls: ScriptedTLS? = nil, scripts: [[OriginStep]]) {
    (self.tls, self.scripts) = (tls, scripts)
    switch address {
    case .tcp:
      (listener, port) = Self.listenTCP()
      unixPath = ""
    case .unix:
      unixPath = "@pawl-test-\(getpid())-\(Self.nextNumber())"
      listener = Self.listenUnix(unixPath)
      port = 0
    }
    let accepting = TestThread { [self] in acceptAll() }
    state.withLock { $0.threads.append(accepting) }
  }

  /// A port of 127.0.0.1 at which nobody listens now.
  package static func closedPort() -> UInt16 {
    let (listener, port) = listenTCP()
    close(listener)
    return port
  }

  package var host: String { unixPath.isEmpty ? "127.0.0.1" : unixPath }
  /// Connections accepted so far.
  package var acceptedCount: Int { state.withLock { $0.accepted } }
  /// What each connection has been sent so far.
  package var received: [[UInt8]] { state.withLock { $0.received } }
  /// What was sent of the pattern by ``OriginStep/sendPatternUntilStuck(upTo:)``, over all connections.
  package var patternSent: Int { state.withLock { $0.patternSent } }

  /// What came of the handshakes so far, in the order in which they ended.
  package var handshakes: [ScriptedTLS.Handshake] { state.withLock { $0.handshakes } }

  /// Stops listening, waits for the scripts and returns what went against them.
  package func finish() -> [String] {
    let wasFinished = state.withLock { state in
      defer { state.isFinished = true }
      return state.isFinished
    }
    if !wasFinished { shutdown(listener, CInt(SHUT_RDWR)) }
    while let thread = state.withLock({ $0.threads.popLast() }) { thread.join() }
    if !wasFinished { close(listener) }
    return state.withLock { $0.failures }
  }

  private func acceptAll() {
    while true {
      let socket = acceptOne()
      guard socket >= 0 else { return }
      let index = state.withLock { state in
        state.accepted += 1
        state.received.append([])
        return state.accepted - 1
      }
      guard index < scripts.count else {
        close(socket)
        continue
      }
      let thread = TestThread { [self] in
        let connection = ScriptSocket(socket, tls)
        if let handshake = connection.handshake { state.withLock { $0.handshakes.append(handshake) } }
        let player = ScriptPlayer(connection, isUnix: !unixPath.isEmpty) { bytes in
          self.state.withLock { $0.received[index].append(contentsOf: bytes) }
        }
        player.play(scripts[index])
        state.withLock { state in
          state.patternSent += player.patternSent
          if let failure = player.failure { state.failures.append("connection \(index): \(failure)") }
        }
      }
      state.withLock { $0.threads.append(thread) }
    }
  }

  private func acceptOne() -> CInt {
    while true {
      let socket = pawl_accept(listener, nil, nil)
      if socket >= 0 || pawl_errno() != EINTR { return socket }
    }
  }

  private static let number = TestLock(0)
  private static func nextNumber() -> Int {
    number.withLock { number in
      number += 1
      return number
    }
  }

  private static func listenTCP() -> (CInt, UInt16) {
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        let isBound = pawl_bind(listener, generic, length) == 0 && listen(listener, 128) == 0
        precondition(isBound && pawl_getsockname(listener, generic, &length) == 0, "no port for the test")
      }
      return UInt16(bigEndian: pointer.pointee.sin_port)
    }
    return (listener, port)
  }

  private static func listenUnix(_ path: String) -> CInt {
    let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let start = Int(pawl_sun_path_offset())
    withUnsafeMutableBytes(of: &address) { bytes in
      for (index, byte) in path.utf8.dropFirst().enumerated() { bytes[start + 1 + index] = byte }
    }
    let length = socklen_t(start + path.utf8.count)
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pawl_bind(listener, $0, length) }
    }
    precondition(isBound == 0 && listen(listener, 128) == 0, "no socket for the test")
    return listener
  }
}
