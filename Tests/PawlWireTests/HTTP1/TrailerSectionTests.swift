import PawlHTTP
import PawlTestKit
import PawlWire
import Testing

@Suite("Trailer sections (RFC 9112 §7.1.2)") struct TrailerSectionTests {
  @Test("keeps allow-listed trailers only (Hygiene, \"forbidden trailers\")", arguments: Fragmenter.allCases)
  func trailers(_ fragmenter: Fragmenter) {
    let bytes = latin("0\r\nRepr-Digest:  x \r\nAuthorization: y\r\nupload-checksum: z\r\nContent-Digest: w\r\n\r\n")
    var decoder = BodyDecoder(.chunked)
    var taken = 0
    for arrived in fragmenter.arrivals(bytes.count) {
      switch decoder.next(bytes, taken..<arrived) {
      case .needMore(let consumed), .end(let consumed): taken += consumed
      case .data, .malformed: Issue.record("no content, nothing malformed")
      }
    }
    #expect(taken == bytes.count)
    #expect(decoder.isEnded)
    #expect(describe(decoder.trailers) == ["Repr-Digest: x", "Upload-Checksum: z", "Content-Digest: w"])
  }

  @Test("bounds the trailer section (Hygiene, \"forbidden trailers\")", arguments: Fragmenter.allCases)
  func trailerLimits(_ fragmenter: Fragmenter) {
    let limits = ChunkLimits(trailer: 20, trailerFields: 2)
    // Twenty bytes with the empty line, then one more.
    #expect(bodyOutcome(latin("0\r\nA: 3456789012345\r\n\r\n"), .chunked, fragmenter, limits: limits) == ".")
    #expect(bodyOutcome(latin("0\r\nA: 34567890123456\r\n\r\n"), .chunked, fragmenter, limits: limits) == "!")
    #expect(bodyOutcome(latin("0\r\nA:b\r\nC:d\r\n\r\n"), .chunked, fragmenter, limits: limits) == ".")
    #expect(bodyOutcome(latin("0\r\nA:b\r\nC:d\r\nE:f\r\n\r\n"), .chunked, fragmenter, limits: limits) == "!")
  }
}
