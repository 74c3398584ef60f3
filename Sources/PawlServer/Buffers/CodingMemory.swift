import PawlBase
import PawlHTTP

/// What the encoders of a process may hold in memory, all together. Any thread.
final class CodingMemory: Sendable {
  /// Octets. Some 400 streams of gzip, or 20 forms of brotli that are being made at once; beyond that content goes out as it is.
  static let limit = 128 << 20

  private let used: Locked<Int>
  private let limit: Int

  init(limit: Int = CodingMemory.limit) { (used, self.limit) = (Locked(0), limit) }

  var count: Int { used.withLock { $0 } }

  /// Octets that an encoder holds, as measured (``PawlCoding/ContentEncoder``).
  static func cost(of coding: ContentCoding, isKept: Bool) -> Int {
    switch (coding, isKept) {
    case (.gzip, _): 320 << 10
    case (.brotli, true): 6400 << 10
    case (.brotli, false): 2400 << 10
    case (.zstd, true): 4900 << 10
    case (.zstd, false): 1900 << 10
    }
  }

  /// Takes what an encoder needs. `nil`: there is no room for one more.
  /// - Parameter isKept: whether its output is kept; else it goes to one client.
  func take(for coding: ContentCoding, isKept: Bool) -> Share? {
    let cost = Self.cost(of: coding, isKept: isKept)
    let isTaken = used.withLock { used in
      guard used + cost <= limit else { return false }
      used += cost
      return true
    }
    return isTaken ? Share(cost, of: self) : nil
  }

  /// One encoder's part. It goes back when that ends, or with this.
  final class Share: Sendable {
    private let held: Locked<Int>
    private let memory: CodingMemory

    fileprivate init(_ count: Int, of memory: CodingMemory) { (held, self.memory) = (Locked(count), memory) }

    deinit { giveBack() }

    func giveBack() {
      let count = held.withLock { held in
        defer { held = 0 }
        return held
      }
      if count > 0 { memory.used.withLock { $0 -= count } }
    }
  }
}
