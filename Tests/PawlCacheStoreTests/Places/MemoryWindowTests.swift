import Testing

@testable import PawlCacheStore

@Suite("The window of a body that passes through memory") struct MemoryWindowTests {
  private static let size = MemoryWindow.capacity

  private func window(from start: UInt64 = 1000, count: Int = size) -> MemoryWindow {
    var window = MemoryWindow()
    let isTaken = [UInt8](repeating: 7, count: count).withUnsafeBytes { window.append($0, at: start) }
    #expect(isTaken)
    return window
  }

  @Test("is held up by who is far behind, while another one waits at its end and it is nearly full")
  func heldUp() {
    let (full, end) = (window(), 1000 + UInt64(Self.size))
    let near = end - UInt64(MemoryWindow.keptWhenOvertaking)
    #expect(full.isHeldUp(by: [0, end]) && full.isHeldUp(by: [1000, end - UInt64(Self.size / 16)]))
    #expect(full.isHeldUp(by: [near - 1, end]))
    #expect(!full.isHeldUp(by: [near, end]) && !full.isHeldUp(by: [1000]) && !full.isHeldUp(by: [UInt64]()))
    #expect(!full.isHeldUp(by: [1000, end - UInt64(Self.size / 16) - 1]))
    #expect(window(count: Self.size / 8 * 7).isHeldUp(by: [1000, 1000 + UInt64(Self.size / 8 * 7)]))
    #expect(!window(count: Self.size / 8 * 7 - 1).isHeldUp(by: [1000, 1000 + UInt64(Self.size / 8 * 7) - 1]))
  }

  @Test("goes on without those that it has overtaken: what they lack has passed")
  func overtakes() {
    var window = window()
    let end = window.range.upperBound
    #expect(!window.hasMoved)
    window.overtake()
    #expect(window.hasMoved && window.range == end - UInt64(MemoryWindow.keptWhenOvertaking)..<end)
    #expect(window.hasPassed(1000) && window.piece(at: 1000, limit: 10) == nil)
    #expect(window.piece(at: end - 3, limit: 10) == [7, 7, 7])
  }
}
