import PawlLoop

/// The part of the ``BufferMemory`` that one transfer holds. Belongs to one loop; the transfer gives it back at its end.
struct TransferMemory {
  /// The number of bytes in whose multiples memory is taken.
  static let step = 16 << 10

  /// Bytes taken from the loop's allowance; ``taken``: from the client's share.
  private var lent = 0
  private var taken = 0
  private var client: UInt64 = 0
  /// Whether the transfer holds more memory than the limits allow.
  private(set) var isDenied = false

  var isEmpty: Bool { lent + taken == 0 && !isDenied }

  /// Takes memory until `count` bytes are held. `false`: the limits do not allow it. The call is cheap if the bytes are held
  /// already, or fit into the loop's allowance.
  mutating func hold(_ count: Int, for request: IncomingRequest) -> Bool {
    hold(count, on: request.loop) { PlaceMarks.client(of: request) }
  }

  /// Does the same without a request, for the client that `who` names.
  /// - Parameter who: returns the client's mark (``PlaceMarks``).
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

  /// Records that the transfer holds more memory than the limits allow. Until the transfer gives its memory back, the loop reads
  /// little at a time.
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
