import CLinux
import PawlBase
import PawlLoop

/// A fast origin for the proxy under test. It serves bodies of any size, and counts and hashes uploads.
package final class Origin {
  private var crew: [(loop: EventLoop, thread: LoopThread, holder: Locked<OriginLoop?>)] = []
  /// The port that the origin listens on.
  package private(set) var port: UInt16 = 0
  private let counts = Locked(OriginCounts())

  /// Listens on `address`; with port 0 the system picks a free port.
  /// - Throws: ``RunProblem`` if the address is invalid or cannot be used.
  package init(listen address: String, threads: Int, core: Int?) throws(RunProblem) {
    guard let first = SocketAddress.parse(address) else {
      throw RunProblem("'\(address)' is no address to listen on, such as 127.0.0.1:8080 or [::1]:0")
    }
    let body = UploadBody(block: Origin.block, size: 0)
    do throws(LoopError) {
      try DescriptorLimit.raise()
      var place = first
      for index in 0..<threads {
        let loop = try EventLoop(index: index)
        let listener = try Listener(address: place, loop: loop, sharing: index == 0 ? .first : .further)
        place = listener.boundAddress
        port = place.port
        let own = OriginLoop(loop, listener, body, counts)
        try own.start()
        let holder = Locked<OriginLoop?>(own)
        let thread = try LoopThread(name: "origin-\(index)") {
          if let core { Origin.pin(to: core + index) }
          loop.runUntilStopped()
        }
        crew.append((loop, thread, holder))
      }
    } catch { throw RunProblem("\(error)") }
  }

  private static func pin(to core: Int) {
    // If this core does not exist or may not be used, the thread runs on any core.
    do throws(RunProblem) { try Affinity.pin(to: core) } catch { return }
  }

  /// Stops the origin.
  package func stop() {
    for member in crew {
      let holder = member.holder
      member.loop.run { holder.withLock { $0 }?.close() }
      member.loop.stop()
      member.thread.join()
    }
    crew = []
  }

  /// Blocks until SIGINT or SIGTERM arrives.
  package func waitForSignal() throws(RunProblem) {
    do throws(LoopError) {
      let loop = try EventLoop(index: -1)
      var isOver = false
      let signals = try SignalWatcher(loop, [SIGINT, SIGTERM]) { _ in isOver = true }
      loop.turn { !isOver }
      signals.close()
    } catch { throw RunProblem("\(error)") }
  }

  /// Writes a line to standard output at once.
  package static func announce(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { CLinux.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }

  /// The counts so far, as in the response to `/count`.
  package var countsText: String { counts.withLock { $0 }.json }

  /// All bodies consist of this block, repeated. Its length is a prime number, so that pieces of a common size (a power of two)
  /// at different offsets have different bytes.
  static let block: [UInt8] = {
    var random = RandomNumbers(seed: 0x6f72_6967, stream: 0)
    return (0..<1_048_573).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }()
}

/// One thread of the origin.
final class OriginLoop {
  let loop: EventLoop
  let body: UploadBody
  let counts: Locked<OriginCounts>
  let buffer: UnsafeMutableBufferPointer<UInt8>
  private let listener: Listener
  private var connections: [ObjectIdentifier: OriginConnection] = [:]

  init(_ loop: EventLoop, _ listener: Listener, _ body: UploadBody, _ counts: Locked<OriginCounts>) {
    (self.loop, self.listener, self.body, self.counts) = (loop, listener, body, counts)
    buffer = .allocate(capacity: 256 << 10)
  }

  deinit { buffer.deallocate() }

  func start() throws(LoopError) {
    listener.onAccept = { [unowned self] socket, peer in
      counts.withLock { $0.connections += 1 }
      let stream = SocketStream(adopting: socket, loop: loop, peer: peer)
      let connection = OriginConnection(stream, self)
      connections[ObjectIdentifier(connection)] = connection
    }
    try listener.start()
  }

  /// Removes a connection. The object is released later, after the callback that called this function has returned.
  func remove(_ connection: OriginConnection) {
    guard let gone = connections.removeValue(forKey: ObjectIdentifier(connection)) else { return }
    loop.nextTurn { withExtendedLifetime(gone) {} }
  }

  func close() {
    listener.close()
    connections = [:]
  }
}
