import PawlBase
import PawlLoop

/// Limits the memory for waiting content of requests and responses, for the process and for each client. The first bytes of each
/// request or response are free and not counted here. Any thread.
final class BufferMemory: Sendable {
  /// Bytes for the whole process.
  static let limit = 64 << 20
  /// Bytes for one client.
  static let clientLimit = 8 << 20
  /// Additional bytes for each loop that count for no client, since most content waits for a moment only.
  static let allowance = 1 << 20
  /// Free memory is returned to the system only if at least this many bytes were held.
  static let trimmed = 4 << 20
  /// The delay before free memory is returned to the system, after half of the memory became free or memory ran short; and the
  /// least pause before memory is returned again.
  static let trimDelay = Duration.seconds(2)
  static let trimPause = Duration.seconds(8)

  private struct State {
    var used = 0
    var clients: [UInt64: Int] = [:]
    /// The most that was held since memory was last returned.
    var peak = 0
  }

  private let state = Locked(State())

  /// Bytes that are held.
  var used: Int { state.withLock { $0.used } }

  /// Takes further bytes. Returns `false` where the client or the process has reached its limit.
  /// - Parameter client: the client's mark (``PlaceMarks``); 0: no client.
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

  /// Gives bytes back.
  /// - Returns: whether to return free memory to the system: much was held, and half of it is free.
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

/// The state of one loop for ``BufferMemory``.
struct LoopMemory {
  /// What is left of ``BufferMemory/allowance``.
  var allowance = BufferMemory.allowance
  /// The number of transfers that hold more than the limits allow.
  var deniedCount = 0
  /// `trims`: whether memory is about to be returned to the system, or was just returned. `trimsAgain`: whether memory is to be
  /// returned once more after that.
  var trims = false
  var trimsAgain = false
}
