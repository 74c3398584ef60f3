import PawlBase
import PawlLoop

/// What requests and answers on their way may hold in memory beyond what each of them has freely: of the process, and of it one client.
/// Any thread.
final class BufferMemory: Sendable {
  /// Bytes of all together.
  static let limit = 64 << 20
  /// Bytes of one client.
  static let clientLimit = 8 << 20
  /// Bytes of each loop besides that are on nobody's account: most of what waits does so for a moment only.
  static let allowance = 1 << 20
  /// Bytes that must have been held before what was is given back to the system.
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

  /// Bytes that are held.
  var used: Int { state.withLock { $0.used } }

  /// Takes so many bytes more. `false`: the client's share, or the process', has no room for them.
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
