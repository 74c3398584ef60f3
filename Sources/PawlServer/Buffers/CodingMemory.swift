import PawlBase
import PawlHTTP

/// Limits the memory of all encoders of the process. Any thread.
final class CodingMemory: Sendable {
  /// Bytes for the process: about 400 gzip streams, or 20 brotli forms that are being made. Beyond this limit, content is sent
  /// uncompressed.
  static let limit = 128 << 20

  /// The part of ``limit`` that the responses of one client may use. Stored coded forms count for no client.
  static let clientLimit = 32 << 20

  private struct State {
    var used = 0
    var clients: [UInt64: Int] = [:]
  }

  private let state = Locked(State())
  private let limit: Int, clientLimit: Int

  init(limit: Int = CodingMemory.limit, clientLimit: Int = CodingMemory.clientLimit) {
    (self.limit, self.clientLimit) = (limit, clientLimit)
  }

  var count: Int { state.withLock { $0.used } }

  /// Returns the bytes that an encoder holds, as measured (``PawlCoding/ContentEncoder``).
  static func cost(of coding: ContentCoding, isKept: Bool) -> Int {
    switch (coding, isKept) {
    case (.gzip, _): 320 << 10
    case (.brotli, true): 6400 << 10
    case (.brotli, false): 2400 << 10
    case (.zstd, true): 4900 << 10
    case (.zstd, false): 1900 << 10
    }
  }

  /// Takes the memory of one more encoder. Returns `nil` at the limit.
  /// - Parameters:
  ///   - isKept: whether the output is stored; else it goes to one client.
  ///   - client: the client's mark (``PlaceMarks``); 0: no client.
  func take(for coding: ContentCoding, isKept: Bool, client: UInt64 = 0) -> Share? {
    let cost = Self.cost(of: coding, isKept: isKept)
    let isTaken = state.withLock { state in
      let held = client == 0 ? 0 : state.clients[client, default: 0]
      guard state.used + cost <= limit, client == 0 || held + cost <= clientLimit else { return false }
      state.used += cost
      if client != 0 { state.clients[client] = held + cost }
      return true
    }
    return isTaken ? Share(cost, client, of: self) : nil
  }

  private func giveBack(_ count: Int, of client: UInt64) {
    state.withLock { state in
      state.used -= count
      guard client != 0 else { return }
      let left = state.clients[client, default: 0] - count
      state.clients[client] = left > 0 ? left : nil
    }
  }

  /// The memory of one encoder. It is given back when the encoder ends, or when this object is freed.
  final class Share: Sendable {
    private let held: Locked<Int>
    private let client: UInt64
    private let memory: CodingMemory

    fileprivate init(_ count: Int, _ client: UInt64, of memory: CodingMemory) {
      (held, self.client, self.memory) = (Locked(count), client, memory)
    }

    deinit { giveBack() }

    func giveBack() {
      let count = held.withLock { held in
        defer { held = 0 }
        return held
      }
      if count > 0 { memory.giveBack(count, of: client) }
    }
  }
}
