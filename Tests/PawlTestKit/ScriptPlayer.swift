import CLinux

/// Plays a script on one accepted connection, on the thread that calls it.
final class ScriptPlayer {
  /// How long a peer may keep a script waiting before the test counts as failed.
  static let patience = 60_000 as CInt

  private let connection: ScriptSocket
  private var socket: CInt { connection.descriptor }
  private let isUnix: Bool
  private let note: ([UInt8]) -> Void
  private(set) var failure: String?
  private(set) var patternSent = 0
  private var received: [UInt8] = []

  init(_ connection: ScriptSocket, isUnix: Bool, note: @escaping ([UInt8]) -> Void) {
    (self.connection, self.isUnix, self.note) = (connection, isUnix, note)
    if !isUnix {
      var one: CInt = 1
      setsockopt(socket, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    }
  }

  func play(_ script: [OriginStep]) {
    if connection.isBroken, !script.isEmpty { failure = "the handshake failed" }
    for (index, step) in script.enumerated() where failure == nil {
      perform(step)
      guard failure == nil else {
        failure = "step \(index) (\(step)): \(failure ?? "")"
        break
      }
    }
    connection.end()
  }

  private func perform(_ step: OriginStep) {
    switch step {
    case .expect(let wanted): expect(wanted)
    case .expectHead:
      if !readHead(), failure == nil { failure = "the connection ended inside a head" }
    case .answerAll(let bytes): while readHead(), send(bytes) {}
    case .read(let count): _ = receive(count)
    case .readUntil(let wanted): readUntil(wanted)
    case .readToEnd: while next(65_536) != nil {}
    case .expectEnd:
      if let more = next(4096) { failure = "not the end, but \(text(more))" }
    case .send(let bytes): _ = send(bytes)
    case .sendMade(let make): _ = send(make(received))
    case .sendEachByte(let bytes): sendEachByte(bytes)
    case .sendPattern(let start, let count): sendPattern(from: start, count: count)
    case .sendPatternUntilStuck(let count): sendUntilStuck(count)
    case .wait(let gate): if !gate.wait() { failure = "the gate stayed closed" }
    case .open(let gate): gate.open()
    case .run(let work): work()
    case .halfClose: connection.endWriting()
    case .withoutNotice: connection.endsWithoutNotice = true
    case .reset:
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }
  }

  // MARK: Reading

  private func expect(_ wanted: [UInt8]) {
    guard let bytes = receive(wanted.count), bytes != wanted else { return }
    failure = "got \(text(bytes)) instead of \(text(wanted))"
  }

  /// `false`: the connection ended.
  private func readHead() -> Bool {
    var tail: [UInt8] = []
    while tail != [13, 10, 13, 10] {
      guard let byte = next(1)?.first else { return false }
      tail = tail.suffix(3) + [byte]
    }
    return true
  }

  private func readUntil(_ wanted: [UInt8]) {
    var tail: [UInt8] = []
    while tail != wanted {
      guard let bytes = next(65_536) else { return failure = "the connection ended" }
      tail = (tail + bytes).suffix(wanted.count)
    }
  }

  private func receive(_ count: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < count {
      guard let more = next(count - bytes.count) else {
        if failure == nil { failure = "the connection ended after \(text(bytes))" }
        return nil
      }
      bytes += more
    }
    return bytes
  }

  /// `nil` at the end of the connection.
  private func next(_ limit: Int) -> [UInt8]? {
    guard connection.hasHeld || isReady(CInt(POLLIN), Self.patience) else {
      failure = "nothing came"
      return nil
    }
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      count = max(0, connection.receive(buffer.baseAddress, limit))
    }
    note(bytes)
    if received.count < 64 << 10 { received += bytes }
    return bytes.isEmpty ? nil : bytes
  }

  // MARK: Writing

  /// `false`: the peer has gone, which a later step notices if it matters.
  private func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      guard isReady(CInt(POLLOUT), Self.patience) else {
        failure = "nothing was taken"
        return false
      }
      let count = bytes[sent...].withUnsafeBytes { connection.send($0) }
      if count < 0, pawl_errno() == EAGAIN { continue }
      guard count >= 0 else { return false }
      sent += count
    }
    return true
  }

  private func sendEachByte(_ bytes: [UInt8]) {
    for byte in bytes {
      guard send([byte]) else { return }
      while isUnix, pawl_bytes_unsent(socket) > 0 { sched_yield() }
    }
  }

  private func sendPattern(from start: UInt64, count: Int) {
    var offset = start
    let end = start + UInt64(count)
    while offset < end {
      let piece = min(end - offset, 65_536)
      guard send(OriginStep.pattern(from: offset, count: Int(piece))) else { return }
      offset += piece
    }
  }

  private func sendUntilStuck(_ count: Int) {
    while patternSent < count, isReady(CInt(POLLOUT), 200) {
      let bytes = OriginStep.pattern(from: UInt64(patternSent), count: min(65_536, count - patternSent))
      let sent = bytes.withUnsafeBytes { connection.send($0) }
      if sent < 0, pawl_errno() == EAGAIN { continue }
      guard sent > 0 else { return }
      patternSent += sent
    }
  }

  private func isReady(_ events: CInt, _ milliseconds: CInt) -> Bool {
    var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
    return poll(&entry, 1, milliseconds) == 1
  }

  private func text(_ bytes: [UInt8]) -> String { "\"\(String(decoding: bytes, as: UTF8.self))\"" }
}
