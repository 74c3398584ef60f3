import CLinux
import Testing

@testable import PawlLoop

@Suite("Randomness", .timeLimit(.minutes(1))) struct RandomnessTests {
  @Test("random bytes come in any number and differ")
  func randomness() {
    #expect(Randomness.bytes(0) == [])
    #expect(Randomness.bytes(1000).count == 1000)
    #expect(Randomness.bytes(16) != Randomness.bytes(16))
    #expect(Randomness.uint64() != Randomness.uint64())
  }
}
