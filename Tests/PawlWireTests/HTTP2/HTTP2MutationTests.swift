import PawlHTTP
import PawlWire
import Testing

@Suite("HTTP/2: bytes that nobody should send") struct HTTP2MutationTests {
  @Test("changed bytes of a good conversation never do more than end it", arguments: 0..<16)
  func mutations(_ seed: UInt64) {
    var random = SplitMix(state: seed &+ 1)
    let put = HTTP2Frame.request("PUT", "/u") + [("content-length", "5"), ("cookie", "a"), ("cookie", "b")]
    let good =
      HTTP2Serving.opening
      + [
        HTTP2Frame.get(1, "/x?y", more: [("accept", "*/*")]), .headers(3, put, end: false), .data(3, [1, 2, 3]),
        .priorityUpdate(5, "u=1, i"), .data(3, [4, 5], end: true), .headers(5, put, end: false, endHeaders: false),
        .continuation(5, [("x", "y")], endHeaders: true), .ping(), .window(0, 100), .window(5, 100), .data(5, [9]),
        .reset(1), .settings([(1, 0), (4, 70_000)]), .data(5, [9, 9, 9, 9]),
        .headers(5, [("content-digest", "x")]), .get(7), HTTP2Frame(kind: 7, payload: [UInt8](repeating: 0, count: 8)),
      ].flatMap(\.bytes)
    for _ in 0..<150 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: 24..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: at)
        default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: at)
        }
      }
      converse(bytes, piece: Int.random(in: 1...200, using: &random))
    }
  }

  private func converse(_ bytes: [UInt8], piece: Int) {
    let server = HTTP2Serving()
    server.onBegan = { stream, _ in server.answer(stream, content: latin("hello")) }
    var open: Set<String> = []
    for part in bytes.pieces(piece) {
      server.receive(part)
      _ = server.frames()
      for event in server.takeEvents() {
        let words = event.split(separator: " ").map(String.init)
        switch words[0] {
        case "began", "refused": #expect(open.insert(words[1]).inserted, "\(event)")
        case "closed": #expect(open.remove(words[1]) != nil, "\(event)")
        default: #expect(open.contains(words[1]), "\(event)")
        }
      }
      if server.progress != .goesOn { break }
    }
    #expect(server.session.streamCount >= open.count)
  }
}

/// Small, good enough, and the same every time.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
