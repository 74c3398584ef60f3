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
}
