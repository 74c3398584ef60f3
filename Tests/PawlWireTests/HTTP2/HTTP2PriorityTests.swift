import PawlHTTP
import PawlWire
import Testing

@Suite("HTTP/2 priorities (RFC 9218)") struct HTTP2PriorityTests {
  /// The streams of the DATA frames, in order.
  private func order(_ frames: [HTTP2Frame], _ streams: [Int32], count: Int = 40_000) -> [Int32] {
    let server = opened(HTTP2Settings(), [HTTP2Frame.settings([(4, 1 << 20)]), HTTP2Frame.window(0, 1 << 20)] + frames)
    for stream in streams { server.answer(stream, content: [UInt8](repeating: 0, count: count)) }
    return server.frames().filter { $0.kind == 0 }.map(\.stream)
  }
  private func get(_ stream: Int32, _ priority: String) -> HTTP2Frame {
    .get(stream, more: [("priority", priority)])
  }

  @Test("streams without Priority take turns, frame by frame")
  func turns() {
    #expect(order([.get(1), .get(3), .get(5)], [1, 3, 5]) == [1, 3, 5, 1, 3, 5, 1, 3, 5])
  }

  @Test("urgent streams go first, those of one urgency in their order unless they are incremental")
  func urgency() {
    #expect(order([get(1, "u=5"), get(3, "u=1"), .get(5)], [1, 3, 5]) == [3, 3, 3, 5, 5, 5, 1, 1, 1])
    #expect(order([get(1, "u=3"), get(3, "u=3")], [1, 3]) == [1, 1, 1, 3, 3, 3])
    #expect(order([get(1, "u=3, i"), get(3, "i")], [1, 3]) == [1, 3, 1, 3, 1, 3])
  }

  @Test(
    "a field that cannot be understood is as if it were not there", arguments: ["u=9", "u=3, !!", "i=2", "u=3, u"])
  func broken(_ priority: String) {
    #expect(order([get(1, priority), get(3, priority)], [1, 3]) == [1, 3, 1, 3, 1, 3])
  }

  @Test("PRIORITY_UPDATE changes a stream that runs, and one that is yet to come")
  func updates() {
    #expect(order([.get(1), .get(3), .priorityUpdate(3, "u=0")], [1, 3]) == [3, 3, 3, 1, 1, 1])
    #expect(order([.priorityUpdate(3, "u=0"), .get(1), .get(3)], [1, 3]) == [3, 3, 3, 1, 1, 1])
  }

  @Test("PRIORITY_UPDATE for streams that never come costs no more than the streams that may be there")
  func bounded() {
    let server = opened()
    let many = (0..<128).flatMap { HTTP2Frame.priorityUpdate(Int32(2 * $0 + 1), "u=0").bytes }
    server.receive(many)
    #expect(server.progress == .goesOn && server.session.streamCount == 0)
    let other = opened()
    other.receive(many + HTTP2Frame.priorityUpdate(999, "u=0").bytes)
    #expect(other.lines() == ["GOAWAY 0 1"])
  }

  @Test("a stream that the client's window holds back is told apart from one that waits for its turn")
  func heldBack() {
    let server = opened(HTTP2Settings(), [HTTP2Frame.settings([(4, 10)]), .get(1), .get(3)])
    server.answer(1, content: latin("0123456789abc"))
    #expect(!server.session.isHeldBack(1))
    #expect(server.lines() == ["HEADERS 1", "DATA 1 10"])
    #expect(server.session.isHeldBack(1) && !server.session.isHeldBack(3))
    server.receive(.window(1, 1))
    #expect(!server.session.isHeldBack(1) && server.lines() == ["DATA 1 1"])
  }
}
