import PawlCache
import PawlUpstream
import PawlWire

/// Handles received content: compares bytes that have come once before, delivers new bytes, and keeps bytes that have to wait.
extension OriginFetch {
  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer) {
    guard state.isReading else { return wasted(bytes.count) }
    request.tally.received += UInt64(bytes.count)
    if state.isComparing || !undelivered.isEmpty || state.isPaused {
      undelivered.append(contentsOf: bytes)
      return exchange.pause()
    }
    let used = take(bytes)
    guard used < bytes.count else { return }
    guard state.isReading else { return wasted(bytes.count - used) }
    undelivered.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[used...]))
  }

  /// Counts bytes that were received and are of no use.
  func wasted(_ count: Int) {
    if count > 0 { services.counters.add(.fromOriginWasted, UInt64(count)) }
  }

  /// Compares bytes that have come once before, and delivers new bytes.
  /// - Returns: the number of bytes that were used; the rest has to wait.
  private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    var used = 0
    while used < bytes.count, state.isReceiving, !state.isPaused {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
      used += position < frontier ? compare(rest) : deliver(rest)
    }
    return used
  }

  private func compare(_ bytes: UnsafeRawBufferPointer) -> Int {
    let count = Int(min(UInt64(bytes.count), frontier - position))
    request.tally.replayed += UInt64(count)
    services.counters.add(.fromOriginReplayed, UInt64(count))
    attempts.replayed += UInt64(count)
    let part = UnsafeRawBufferPointer(rebasing: bytes[..<count])
    let offset = position
    position += UInt64(count)
    switch sink?.fetch(self, compare: part, at: offset) ?? .different {
    case .equal: break
    case .different: contentDiffers(at: offset)
    case .later:
      state.compares()
      exchange?.pause()
    }
    return count
  }

  func compared(equal: Bool) {
    guard state.compared() == .goOn else { return }
    guard equal else { return contentDiffers(at: position) }
    drain()
  }

  private func contentDiffers(at offset: UInt64) {
    let why = "content-differs-before-\(offset + 1)"
    isAnother(why)
  }

  /// Handles content that differs from the held content. Asks again if another node may still have the held content; otherwise fails. The
  /// node with different content may be the node that gave the beginning.
  func isAnother(_ why: String) {
    guard nodes?.disagrees() == true else { return fail(.changed(why)) }
    askAnother(why)
  }

  private func deliver(_ bytes: UnsafeRawBufferPointer) -> Int {
    let wanted = spanEnd.map { $0 - frontier } ?? .max
    let count = Int(min(UInt64(bytes.count), wanted))
    let part = UnsafeRawBufferPointer(rebasing: bytes[..<count])
    let offset = frontier
    frontier += UInt64(count)
    position = frontier
    services.counters.add(state.hasBroken ? .fromOriginResumed : .fromOriginNew, UInt64(count))
    if state.hasBroken {
      request.tally.resumed += UInt64(count)
      if let nodes, nodes.progressed(known: first?.identity) { logNodesDiffer() }
    }
    if count > 0, sink?.fetch(self, bytes: part, at: offset) == .pause { pause() }
    guard state.isReading else {
      wasted(bytes.count - count)
      return bytes.count
    }
    if let spanEnd, frontier >= spanEnd, total != spanEnd || count < bytes.count {
      wasted(bytes.count - count)
      dropExchange()
      end()
      return bytes.count
    }
    return count
  }

  /// Uses the bytes that had to wait, then reads on.
  func drain() {
    guard state.isReceiving else { return }
    if !undelivered.isEmpty {
      let bytes = undelivered
      undelivered = []
      let used = bytes.withUnsafeBytes { take($0) }
      guard state.isReading else { return wasted(bytes.count - used) }
      if used < bytes.count { undelivered = Array(bytes[used...]) + undelivered }
    }
    guard undelivered.isEmpty else { return }
    switch state.usedAll() {
    case .goOn: exchange?.resume()
    case .conclude: answerIsOver()
    case .breakOff: brokeOff()
    case .nothing, .tellNoAnswer, .impossible: break
    }
  }
}
