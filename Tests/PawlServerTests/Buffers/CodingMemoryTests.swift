import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Memory of encoders") struct CodingMemoryTests {
  @Test("as many as there is room for, and not one more", arguments: ContentCoding.allCases, [true, false])
  func limit(_ coding: ContentCoding, _ isKept: Bool) {
    let cost = CodingMemory.cost(of: coding, isKept: isKept)
    let memory = CodingMemory(limit: 3 * cost)
    let shares = (0..<3).map { _ in memory.take(for: coding, isKept: isKept) }
    #expect(shares.allSatisfy { $0 != nil } && memory.count == 3 * cost)
    #expect(memory.take(for: coding, isKept: isKept) == nil)
    let short = CodingMemory(limit: 3 * cost - 1)
    let two = (0..<3).compactMap { _ in short.take(for: coding, isKept: isKept) }
    #expect(two.count == 2)
  }

  @Test("one client has so much of it and not more; what is nobody's counts for none")
  func client() {
    let cost = CodingMemory.cost(of: .gzip, isKept: false)
    let memory = CodingMemory(limit: 10 * cost, clientLimit: 2 * cost)
    var shares = (0..<2).map { _ in memory.take(for: .gzip, isKept: false, client: 7) }
    #expect(shares.allSatisfy { $0 != nil } && memory.take(for: .gzip, isKept: false, client: 7) == nil)
    let others = [memory.take(for: .gzip, isKept: false, client: 8), memory.take(for: .gzip, isKept: true)]
    #expect(others.allSatisfy { $0 != nil } && memory.count == 4 * cost)
    shares.removeLast()
    #expect(memory.take(for: .gzip, isKept: false, client: 7) != nil && memory.count == 3 * cost)
    withExtendedLifetime((shares, others)) {}
  }

  @Test("a share goes back once, when it is given back or let go of")
  func back() {
    let memory = CodingMemory()
    var share = memory.take(for: .gzip, isKept: true)
    let other = memory.take(for: .zstd, isKept: false)
    share?.giveBack()
    share?.giveBack()
    share = nil
    #expect(memory.count == CodingMemory.cost(of: .zstd, isKept: false))
    withExtendedLifetime(other) {}
    do { _ = memory.take(for: .brotli, isKept: true) }
    other?.giveBack()
    #expect(memory.count == 0)
  }

  @Test("there is room for 400 streams of gzip and 20 forms of Brotli")
  func size() {
    #expect(CodingMemory.limit / CodingMemory.cost(of: .gzip, isKept: false) >= 400)
    #expect(CodingMemory.limit / CodingMemory.cost(of: .brotli, isKept: true) >= 20)
  }
}
