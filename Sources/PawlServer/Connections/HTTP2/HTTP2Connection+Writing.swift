import PawlLoop
import PawlWire

extension HTTP2Connection {
  /// The most bytes written in one turn of the loop if no other connection is ready. If others are ready, the limit is lower.
  private static let turn = 2 << 20
  /// The most bytes produced for one write, so that one call sends many TLS records. No more than this waits unsent in memory.
  private static let writeSize = 128 << 10

  func streamWritable() { pump() }

  /// Writes until the session has nothing to send, the socket is full, or this connection's share of the turn is used up.
  func pump() {
    guard activity == .none, isOpen || phase == .ending else { return }
    activity = .pumping
    defer { activity = .none }
    var budget = connections.loop.turnShare(of: Self.turn)
    var isOver = false
    while !isOver, flush() {
      guard budget > 0 else {
        stream.wantWritable()
        break
      }
      let before = written
      isOver = !produce()
      budget -= Int(written - before)
      guard isOpen || phase == .ending else { return }
    }
    tellSent()
    guard isOver, output.isEmpty else { return }
    if phase == .ending { finish() }
  }

  /// Produces and writes once; `false` when there is nothing to send now.
  private func produce() -> Bool {
    guard session.wantsToSend else { return false }
    var buffer = connections.takeHotBuffer()
    defer {
      buffer.removeAll(keepingCapacity: true)
      connections.giveHotBuffer(buffer)
    }
    let progress = session.produce(into: &buffer, atMost: Self.writeSize)
    produced += UInt64(buffer.count)
    noteAnswered()
    if case .ends(let reason) = progress { ended(reason) }
    guard !buffer.isEmpty else { return false }
    let sent = write(buffer, from: 0)
    guard let sent else { return false }
    if sent < buffer.count { output = Array(buffer[sent...]) }
    return true
  }

  /// Writes the bytes that the socket did not take before. Returns `false` when the socket is still full or is broken.
  private func flush() -> Bool {
    guard !output.isEmpty else { return true }
    guard let sent = write(output, from: outputSent) else { return false }
    outputSent += sent
    guard outputSent == output.count else { return false }
    output = []
    outputSent = 0
    return true
  }

  /// Writes the bytes from `start` and returns how many the socket took; `nil` when the socket is broken and the connection was
  /// closed.
  private func write(_ bytes: [UInt8], from start: Int) -> Int? {
    var position = start
    while position < bytes.count {
      let result = bytes.withUnsafeBytes {
        stream.write(UnsafeRawBufferPointer(rebasing: $0[position...]), more: false)
      }
      switch result {
      case .bytes(let count):
        position += count
        written += UInt64(count)
        stuckSince = nil
      case .wouldBlock:
        if stuckSince == nil { stuckSince = connections.loop.now }
        stream.wantWritable()
        expect(within: listener.settings.sendTimeout)
        return position - start
      case .end: return nil
      case .failed(let code):
        clientBroke(errorName(code))
        return nil
      }
    }
    return position - start
  }

  /// Marks the answers whose last bytes were just produced: such an answer counts as sent once all bytes produced so far are
  /// written.
  private func noteAnswered() {
    if !readyRequests.isEmpty { noteAnsweredReady() }
    for index in unsentAnswers.indices.reversed() {
      guard unsentAnswers[index].until == .max else { break }
      unsentAnswers[index].until = produced
      unsentAnswers[index].stream.dropRestIfUnended()
    }
  }

  private func tellSent() {
    if !readyRequests.isEmpty { logSentReady() }
    guard let first = unsentAnswers.first, first.until <= written else { return }
    let count = unsentAnswers.firstIndex { $0.until > written } ?? unsentAnswers.count
    let sent = unsentAnswers[..<count].map(\.stream)
    unsentAnswers.removeFirst(count)
    for stream in sent { stream.answerSent() }
  }
}
