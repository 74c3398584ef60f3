import CLinux
import Testing

@testable import PawlLoop

@Suite("Owned descriptor", .timeLimit(.minutes(1))) struct OwnedDescriptorTests {
  @Test("an owned descriptor is closed once, or handed on")
  func ownsDescriptor() throws {
    let (a, b) = try socketPair()
    do { _ = OwnedDescriptor(adopting: a) }
    var byte: UInt8 = 0
    #expect(recv(b, &byte, 1, 0) == 0)
    let kept = OwnedDescriptor(adopting: b).release()
    #expect(kept == b && isOpen(b))
    close(b)
  }
}
