import PawlObserve
import Testing

@Suite("Request id") struct RequestIDTests {
  @Test("is 32 hexadecimal digits, another one each time")
  func distinct() {
    var source = RequestIDs()
    let made = (0..<1000).map { _ in source.make() }
    #expect(Set(made).count == 1000)
    #expect(made.allSatisfy { id in id.count == 32 && id.allSatisfy { Array("0123456789abcdef".utf8).contains($0) } })
  }

  @Test("follows what stands before it, from a source of one's own too")
  func appended() {
    var (source, text) = (RequestIDs(), [UInt8]([0x61]))
    for _ in 0..<300 { source.append(to: &text) }
    #expect(text.count == 1 + 300 * RequestID.count && text[0] == 0x61)
    let ids: [ArraySlice<UInt8>] = (0..<300).map { index in
      let start = 1 + index * RequestID.count
      return text[start..<start + RequestID.count]
    }
    #expect(Set(ids).count == 300)
  }
}
