import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Hash of what was delivered") struct RunningHashTests {
  @Test("does not depend on how the content came", arguments: Fragmenter.allCases)
  func pieces(_ fragmenter: Fragmenter) {
    let content = OriginStep.pattern(from: 0, count: 1000)
    let (whole, parts) = (RunningHash(), RunningHash())
    content.withUnsafeBytes { whole.update($0) }
    for piece in fragmenter.pieces(content) { piece.withUnsafeBytes { parts.update($0) } }
    #expect(whole.digest == parts.digest)
  }

  @Test("tells contents apart, and shows the state without ending it")
  func differs() {
    let (one, other) = (RunningHash(), RunningHash())
    #expect(one.digest == other.digest)
    [UInt8]([1, 2]).withUnsafeBytes { one.update($0) }
    #expect(one.digest != other.digest)
    [UInt8]([1]).withUnsafeBytes { other.update($0) }
    #expect(one.digest != other.digest)
    [UInt8]([2]).withUnsafeBytes { other.update($0) }
    #expect(one.digest == other.digest)
  }
}
