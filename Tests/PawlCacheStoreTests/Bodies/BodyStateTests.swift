import PawlCache
import Testing

@testable import PawlCacheStore

@Suite("Everything about a body that changes") struct BodyStateTests {
  @Test(
    "what can be had at a place",
    arguments: [
      (0, StoredBody.Availability.checking), (9, .checking), (10, .missing), (20, .checking), (29, .checking),
      (30, .missing), (99, .missing), (100, .ended), (500, .ended),
    ] as [(UInt64, StoredBody.Availability)])
  func availability(_ position: UInt64, _ expected: StoredBody.Availability) {
    var state = BodyState()
    state.total = 100
    state.held = HeldBytes([0..<10, 20..<30])
    #expect(state.availability(at: position) == expected)
    state.content = .failed(.removed, wasComplete: false)
    #expect(state.availability(at: position) == .failed(.removed))
  }

  @Test("a body in memory is there whatever the file says")
  func memory() {
    var state = BodyState()
    state.total = 3
    state.memory = [1, 2, 3]
    #expect(state.availability(at: 2) == .bytes(until: 3))
    #expect(state.availability(at: 3) == .ended)
  }

  @Test("what is being written is not missing")
  func claims() {
    var state = BodyState()
    state.held = HeldBytes([0..<10])
    #expect(state.missing(in: 5..<20) == [10..<20])
    state.claims = [12..<15]
    #expect(state.missing(in: 5..<20) == [10..<12, 15..<20])
    #expect(!state.isIdle)
  }

  @Test("segments end at a border of a MiB, are recorded once, and again when they have grown")
  func segments() {
    var state = BodyState()
    func write(_ count: Int, at position: UInt64) {
      let segment = state.takeSegment(continuing: position)
      [UInt8](repeating: 1, count: count).withUnsafeBytes { segment.append($0) }
      state.giveBack(segment)
    }
    write(100, at: 0)
    var records = state.takeRecords()
    #expect(records.map(\.range) == [0..<100])
    records = state.takeRecords()
    #expect(records.isEmpty && !state.hasUnrecorded)
    write((1 << 20) - 100, at: 100)
    #expect(state.open.isEmpty && state.hasUnrecorded)
    records = state.takeRecords()
    #expect(records.map(\.range) == [0..<1 << 20] && records.map(\.sequence) == [3])
    write(5, at: 1 << 20)
    write(7, at: 5 << 20)
    #expect(state.open.count == 2)
    state.closeAllSegments()
    records = state.takeRecords()
    let ends: [Range<UInt64>] = [1_048_576..<1_048_581, 5_242_880..<5_242_887]
    #expect(records.map(\.range) == ends)
  }

  @Test("tags are cut back to what can be proven, unless the origin's validator vouches for the rest")
  func tags() {
    var state = BodyState()
    state.tags = [TagRecord(tag: [1]), TagRecord(tag: [2], limit: 5)]
    var hasChanged = state.limitTags(to: 10)
    #expect(hasChanged && state.tags.map(\.limit) == [10, 5])
    hasChanged = state.limitTags(to: 10)
    #expect(!hasChanged)
    state.hasStrongValidator = true
    hasChanged = state.limitTags(to: 1)
    #expect(!hasChanged && state.tags.map(\.limit) == [10, 5])
  }
}
