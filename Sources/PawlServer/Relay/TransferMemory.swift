import PawlLoop

/// What one transfer holds of the ``BufferMemory``. Of its loop; whoever has it gives it back at its end.
struct TransferMemory {
  /// Bytes that are taken at a time.
  static let step = 16 << 10

  /// Bytes of the loop's allowance, and of the client's share.
  private var lent = 0
  private var taken = 0
  private var client: UInt64 = 0
  /// There was no room for all that it holds.
  private(set) var isDenied = false

  var isEmpty: Bool { lent + taken == 0 && !isDenied }

  /// Sees to it that so many bytes are held. `false`: there is no room for them. Cheap where they are, or the loop's allowance does.
  mutating func hold(_ count: Int, for request: IncomingRequest) -> Bool {
    hold(count, on: request.loop) { PlaceAccount.client(of: request) }
  }

  /// - Parameter who: the client's mark.
  mutating func hold(_ count: Int, on loop: LoopServices, _ who: () -> UInt64) -> Bool {
    let more = count - lent - taken
    guard more > 0 else { return true }
    let asked = (more + Self.step - 1) / Self.step * Self.step
    if loop.memory.allowance >= asked {
      loop.memory.allowance -= asked
      lent += asked
      return true
    }
    if taken == 0 { client = who() }
    guard loop.shared.bufferMemory.take(asked, for: client) else {
      loop.trimMemory()
      return false
    }
    taken += asked
    return true
  }

  /// It holds more all the same: as long as it does, the loop reads little at a time.
  mutating func holdsMore(on loop: LoopServices) {
    guard !isDenied else { return }
    isDenied = true
    loop.noteDenied(1)
  }

  mutating func giveBack(on loop: LoopServices) {
    if lent > 0 {
      loop.memory.allowance += lent
      lent = 0
    }
    if taken > 0 {
      if loop.shared.bufferMemory.giveBack(taken, for: client) { loop.trimMemory() }
      taken = 0
    }
    if isDenied {
      isDenied = false
      loop.noteDenied(-1)
    }
  }
}
