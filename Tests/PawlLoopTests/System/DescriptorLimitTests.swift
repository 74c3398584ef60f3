import CLinux
import Testing

@testable import PawlLoop

@Suite("Descriptor limit", .timeLimit(.minutes(1))) struct DescriptorLimitTests {
  @Test("the limit of descriptors is raised to the hard one, and stays")
  func raisesLimit() throws {
    let first = try DescriptorLimit.raise()
    #expect(first > 0)
    #expect(try DescriptorLimit.raise() == first)
  }

  @Test("the idle files of all caches together hold a quarter of them, each cache its part and one at least")
  func idleFiles() throws {
    let all = Int(clamping: try DescriptorLimit.raise())
    #expect(DescriptorLimit.idle(atMost: .max, among: 1) == all / 4)
    #expect(DescriptorLimit.idle(atMost: .max, among: 2) == all / 8)
    #expect(DescriptorLimit.idle(atMost: all / 4 - 1, among: 1) == all / 4 - 1)
    #expect(DescriptorLimit.idle(atMost: all / 4 + 1, among: 1) == all / 4)
    #expect(DescriptorLimit.idle(atMost: .max, among: 0) == all / 4)
    #expect(DescriptorLimit.idle(atMost: .max, among: .max) == 1)
  }

  @Test("what only saves time holds few of them")
  func sparesFew() throws {
    let all = Int(clamping: try DescriptorLimit.raise())
    #expect(DescriptorLimit.spare(atMost: .max) == all / 64)
    #expect(DescriptorLimit.spare(atMost: 1) == 1)
    #expect(DescriptorLimit.spare(atMost: 0) == 0)
  }
}
