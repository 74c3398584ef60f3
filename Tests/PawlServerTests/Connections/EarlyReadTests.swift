import Testing

@testable import PawlServer

@Suite("Which new connections are read before they are watched") struct EarlyReadTests {
  /// Those that are watched first, until one is read at once.
  private func skipped(_ reads: inout EarlyRead) -> Int {
    var count = 0
    while !reads.isDue() { count += 1 }
    return count
  }

  @Test("all, as long as something is there")
  func found() {
    var reads = EarlyRead()
    for _ in 0..<3 {
      #expect(skipped(&reads) == 0)
      reads.note(found: true)
    }
  }

  @Test("ever fewer, where nothing is there, down to one of 65")
  func nothing() {
    var reads = EarlyRead()
    var counts: [Int] = []
    for _ in 0..<9 {
      counts.append(skipped(&reads))
      reads.note(found: false)
    }
    #expect(counts == [0, 1, 2, 4, 8, 16, 32, 64, 64] && EarlyRead.mostSkipped == 64)
  }

  @Test("all again, once something was there")
  func again() {
    var reads = EarlyRead()
    for _ in 0..<5 { reads.note(found: false) }
    _ = skipped(&reads)
    reads.note(found: true)
    #expect(skipped(&reads) == 0)
  }
}
