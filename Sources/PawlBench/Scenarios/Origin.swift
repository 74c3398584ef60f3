import CLinux
import PawlBase
import PawlLoop

/// A fast origin to put behind the server that is tested: bodies of any size, and uploads that are counted and hashed.
package final class Origin {
  private var crew: [(loop: EventLoop, thread: LoopThread, holder: Locked<OriginLoop?>)] = []
  /// Where it listens.
  package private(set) var port: UInt16 = 0
  private let counts = Locked(OriginCounts())

  /// Listens on `address`, with port 0 on one that is free.
  /// - Throws: ``RunProblem`` when the address is none, or not to be had.
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
    // Without that core it runs anywhere.
    do throws(RunProblem) { try Affinity.pin(to: core) } catch { return }
  }

  /// Ends it.
  package func stop() {
    for member in crew {
      let holder = member.holder
      member.loop.run { holder.withLock { $0 }?.close() }
      member.loop.stop()
      member.thread.join()
    }
    crew = []
  }

  /// Blocks until a signal asks the process to end.
  package func waitForSignal() throws(RunProblem) {
    do throws(LoopError) {
      let loop = try EventLoop(index: -1)
      var isOver = false
      let signals = try SignalWatcher(loop, [SIGINT, SIGTERM]) { _ in isOver = true }
      loop.turn { !isOver }
      signals.close()
    } catch { throw RunProblem("\(error)") }
  }

  /// A line on standard output, at once.
  package static func announce(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { CLinux.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }

  /// What was asked for until now, as `/count` tells it.
  package var countsText: String { counts.withLock { $0 }.json }

  /// All bodies begin with it and repeat it: as long as a prime, so that no two pieces of a usual size are alike.
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

  /// Let go of when its callback is over.
  func remove(_ connection: OriginConnection) {
    guard let gone = connections.removeValue(forKey: ObjectIdentifier(connection)) else { return }
    loop.nextTurn { withExtendedLifetime(gone) {} }
  }

  func close() {
    listener.close()
    connections = [:]
  }
}
