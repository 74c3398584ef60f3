import PawlObserve
import Testing

@Suite("Request id") struct RequestIDTests {
  @Test("is 32 hexadecimal digits, another one each time")
  func distinct() {
    let made = (0..<1000).map { _ in RequestID.make() }
    #expect(Set(made).count == 1000)
    #expect(made.allSatisfy { id in id.count == 32 && id.allSatisfy { Array("0123456789abcdef".utf8).contains($0) } })
  }
}
