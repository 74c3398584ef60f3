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

  @Test("what only saves time holds few of them")
  func sparesFew() throws {
    let all = Int(clamping: try DescriptorLimit.raise())
    #expect(DescriptorLimit.spare(atMost: .max) == all / 64)
    #expect(DescriptorLimit.spare(atMost: 1) == 1)
    #expect(DescriptorLimit.spare(atMost: 0) == 0)
  }
}
