import PawlHTTP
import PawlTestKit
import PawlWire
import Testing

@Suite("Body decoder") struct BodyDecoderTests {
  @Test("reports content by ranges of the buffer and moves over what is around it")
  func events() {
    let bytes = latin("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\nNEXT")
    var decoder = BodyDecoder(.chunked)
    #expect(decoder.next(bytes, 0..<5) == .data(3..<5, consumed: 5))
    #expect(decoder.next(bytes, 5..<5) == .needMore(consumed: 0))
    #expect(decoder.next(bytes, 5..<10) == .data(5..<6, consumed: 1))
    #expect(decoder.next(bytes, 6..<10) == .needMore(consumed: 4))
    #expect(decoder.next(bytes, 10..<bytes.count) == .data(15..<17, consumed: 7))
    #expect(!decoder.isEnded && !decoder.endOfStreamIsComplete() && decoder.remaining == nil)
    #expect(decoder.next(bytes, 17..<bytes.count) == .end(consumed: 7))
    #expect(decoder.next(bytes, 24..<bytes.count) == .end(consumed: 0))
    #expect(decoder.isEnded && decoder.endOfStreamIsComplete() && decoder.remaining == 0)
  }

  @Test("counts down a known length")
  func length() {
    let bytes = latin("abcdef")
    var decoder = BodyDecoder(.length(5))
    #expect(decoder.remaining == 5)
    #expect(decoder.next(bytes, 0..<0) == .needMore(consumed: 0))
    #expect(decoder.next(bytes, 0..<2) == .data(0..<2, consumed: 2))
    #expect(decoder.remaining == 3 && !decoder.isEnded && !decoder.endOfStreamIsComplete())
    #expect(decoder.next(bytes, 2..<6) == .data(2..<5, consumed: 3))
    #expect(decoder.isEnded && decoder.endOfStreamIsComplete())
    #expect(decoder.next(bytes, 5..<6) == .end(consumed: 0))
  }

  @Test("a body of none or of length zero has ended before it began", arguments: [BodyFraming.none, .length(0)])
  func empty(_ framing: BodyFraming) {
    var decoder = BodyDecoder(framing)
    #expect(decoder.isEnded && decoder.remaining == 0)
    #expect(decoder.next(latin("x"), 0..<1) == .end(consumed: 0))
  }

  @Test("a body until close goes on to the end of the connection")
  func untilClose() {
    var decoder = BodyDecoder(.untilClose)
    #expect(decoder.next(latin("ab"), 0..<2) == .data(0..<2, consumed: 2))
    #expect(decoder.next(latin("ab"), 2..<2) == .needMore(consumed: 0))
    #expect(!decoder.isEnded && decoder.endOfStreamIsComplete() && decoder.remaining == nil)
  }

  @Test("stays malformed, and is not completed by the end of the connection")
  func malformed() {
    var decoder = BodyDecoder(.chunked)
    let expected = BodyDecoder.Event.malformed("A chunk size is missing or is no hexadecimal number.")
    #expect(decoder.next(latin("x\r\n"), 0..<3) == expected)
    #expect(decoder.next(latin("0\r\n\r\n"), 0..<5) == expected)
    #expect(!decoder.isEnded && !decoder.endOfStreamIsComplete())
  }

  @Test("reads what the writer writes", arguments: [1, 9, 10, 15, 16, 255, 256, 4096, 65_535, 65_536])
  func roundTrip(_ count: Int) {
    let content = (0..<count).map { UInt8(truncatingIfNeeded: 0x20 + $0 % 64) }
    var bytes: [UInt8] = []
    ChunkedWriter.append(content, into: &bytes)
    ChunkedWriter.append([], into: &bytes)
    bytes += ChunkedWriter.last
    for fragmenter in Fragmenter.allCases where count < 5000 || fragmenter == .whole {
      #expect(bodyOutcome(bytes, .chunked, fragmenter) == content[...].text + ".")
    }
  }
}
