import CLinux
import PawlBase
import PawlLoop

/// What requests and answers on their way may hold in memory beyond what each of them has freely: of the process, and of it one client.
/// Any thread.
final class BufferMemory: Sendable {
  /// Octets of all together.
  static let limit = 64 << 20
  /// Octets of one client.
  static let clientLimit = 8 << 20
  /// Octets of each loop besides that are on nobody's account: most of what waits does so for a moment only.
  static let allowance = 1 << 20
  /// Octets that must have been held before what was is given back to the system.
  static let trimmed = 4 << 20
  /// So long after half of them are free, or memory ran short; and so long until the next time.
  static let trimDelay = Duration.seconds(2)
  static let trimPause = Duration.seconds(8)

  private struct State {
    var used = 0
    var clients: [UInt64: Int] = [:]
    /// The most that was held since memory was given back.
    var peak = 0
  }

  private let state = Locked(State())

  /// Octets that are held.
  var used: Int { state.withLock { $0.used } }

  /// Takes so many octets more. `false`: the client's share, or the process', has no room for them.
  /// - Parameter client: its mark (``PlaceAccount``); 0: nobody in particular.
  func take(_ count: Int, for client: UInt64) -> Bool {
    state.withLock { state in
      let held = client == 0 ? 0 : state.clients[client, default: 0]
      guard state.used + count <= Self.limit, client == 0 || held + count <= Self.clientLimit else { return false }
      state.used += count
      state.peak = max(state.peak, state.used)
      if client != 0 { state.clients[client] = held + count }
      return true
    }
  }

  /// - Returns: whether the system is to have back what is free: much was held, and half of it no longer is.
  func giveBack(_ count: Int, for client: UInt64) -> Bool {
    state.withLock { state in
      state.used -= count
      if client != 0 {
        let held = state.clients[client, default: 0] - count
        state.clients[client] = held > 0 ? held : nil
      }
      guard state.peak >= Self.trimmed, state.used <= state.peak / 2 else { return false }
      state.peak = 0
      return true
    }
  }
}

/// A loop's part in the ``BufferMemory``.
struct LoopMemory {
  /// Of ``BufferMemory/allowance``: what is left.
  var allowance = BufferMemory.allowance
  /// Transfers that hold more than there was room for.
  var deniedCount = 0
  /// Whether what is free is about to be given back to the system, or was a moment ago.
  var trims = false
  var trimsAgain = false
}

/// What one transfer holds of the ``BufferMemory``. Of its loop; whoever has it gives it back at its end.
struct HeldMemory {
  /// Octets that are taken at a time.
  static let step = 16 << 10

  /// Octets of the loop's allowance, and of the client's share.
  private var lent = 0
  private var taken = 0
  private var client: UInt64 = 0
  /// There was no room for all that it holds.
  private(set) var isDenied = false

  var isEmpty: Bool { lent + taken == 0 && !isDenied }

  /// Sees to it that so many octets are held. `false`: there is no room for them. Cheap where they are, or the loop's allowance does.
  mutating func hold(_ count: Int, for request: IncomingRequest) -> Bool {
    hold(count, on: request.loop) { PlaceAccount.client(of: request) }
  }

  /// - Parameter who: the client's mark.
  mutating func hold(_ count: Int, on loop: ServerLoop, _ who: () -> UInt64) -> Bool {
    let more = count - lent - taken
    guard more > 0 else { return true }
    let asked = (more + Self.step - 1) / Self.step * Self.step
    if loop.memory.allowance >= asked {
      loop.memory.allowance -= asked
      lent += asked
      return true
    }
    if taken == 0 { client = who() }
    guard loop.server.bufferMemory.take(asked, for: client) else {
      loop.trimMemory()
      return false
    }
    taken += asked
    return true
  }

  /// It holds more all the same: as long as it does, the loop reads little at a time.
  mutating func holdsMore(on loop: ServerLoop) {
    guard !isDenied else { return }
    isDenied = true
    loop.noteDenied(1)
  }

  mutating func giveBack(on loop: ServerLoop) {
    if lent > 0 {
      loop.memory.allowance += lent
      lent = 0
    }
    if taken > 0 {
      if loop.server.bufferMemory.giveBack(taken, for: client) { loop.trimMemory() }
      taken = 0
    }
    if isDenied {
      isDenied = false
      loop.noteDenied(-1)
    }
  }
}

extension ServerLoop {
  /// Octets read at a time while transfers hold more memory than there is room for.
  static let scarceRead = 16 << 10

  func noteDenied(_ change: Int) {
    memory.deniedCount += change
    loop.readLimit = memory.deniedCount > 0 ? Self.scarceRead : EventLoop.readBufferSize
  }

  /// What the allocator keeps between what is used goes back to the system, in a moment: more is free by then.
  func trimMemory() {
    guard !memory.trims else { return memory.trimsAgain = true }
    guard !isDraining else { return }
    memory.trims = true
    uploads.perform(after: BufferMemory.trimDelay) { [unowned self] in
      memory.trimsAgain = false
      pool.run { _ = malloc_trim(0) }
      uploads.perform(after: BufferMemory.trimPause) { [unowned self] in
        memory.trims = false
        if memory.trimsAgain { trimMemory() }
      }
    }
  }
}
