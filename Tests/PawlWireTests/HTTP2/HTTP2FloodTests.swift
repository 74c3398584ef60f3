import PawlHTTP
import PawlWire
import Testing

@Suite("HTTP/2 floods, as a connection sees them") struct HTTP2FloodTests {
  private static let end = "GOAWAY"

  /// How many of these frames a connection takes before it ends, and why.
  private func flood(
    _ settings: HTTP2Settings = HTTP2Settings(), reads: Bool = true, _ frames: (Int32) -> [HTTP2Frame]
  ) -> String {
    let server = opened(settings)
    var began = 0
    for count in 0..<20_000 {
      server.receive(frames(Int32(2 * count + 1)).flatMap(\.bytes))
      if reads { _ = server.lines() }
      began += server.takeEvents().count { $0.hasPrefix("began") }
      if case .ends(let reason) = server.progress {
        return "\(reason.rawValue) after \(count), \(began) begun"
      }
    }
    return "none, \(began) begun"
  }

  @Test("of resets: none of the requests is ever begun")
  func resets() {
    #expect(flood { [.get($0), .reset($0)] } == "reset-flood after 256, 0 begun")
  }

  @Test("of streams that the client makes pawl reset count as resets")
  func madeResets() {
    #expect(flood { [.get($0), .window($0, 0x7fff_ffff)] } == "reset-flood after 256, 0 begun")
    let put = HTTP2Frame.request("PUT", "/") + [("content-length", "3")]
    #expect(flood { [.headers($0, put, end: false), .data($0, [1], end: true)] } == "reset-flood after 256, 0 begun")
    #expect(flood { [.get($0, more: [("connection", "close")])] } == "reset-flood after 256, 0 begun")
  }

  @Test("of SETTINGS, PING, WINDOW_UPDATE, PRIORITY, PRIORITY_UPDATE and empty DATA")
  func control() {
    #expect(flood { _ in [.settings()] } == "settings-flood after 31, 0 begun")
    #expect(flood { _ in [.ping()] } == "ping-flood after 512, 0 begun")
    #expect(flood { _ in [.window(0, 1)] } == "window-update-flood after 1024, 0 begun")
    #expect(flood { _ in [.priorityUpdate(1, "u=1")] } == "priority-flood after 512, 0 begun")
    #expect(flood { $0 == 1 ? [.get(1, end: false)] : [.data(1, [])] } == "empty-frame-flood after 129, 1 begun")
  }

  @Test("of CONTINUATION, of a stream that goes on and of one that is ignored")
  func continuations() {
    func blocks(_ count: Int) -> [HTTP2Frame] {
      [.headers(1, HTTP2Frame.request("GET", "/"), endHeaders: false)]
        + (1...count).map { .continuation(1, [("x", "y")], endHeaders: $0 == count) }
    }
    let server = opened()
    server.receive(blocks(16).flatMap(\.bytes))
    #expect(server.events.first?.hasPrefix("began 1") == true && server.progress == .goesOn)
    let other = opened()
    other.receive(blocks(17).flatMap(\.bytes))
    #expect(other.events == [] && other.progress == .ends(.continuationFlood) && other.lines() == ["GOAWAY 0 11"])
    let third = opened(HTTP2Settings(), [.get(1, end: false)])
    third.session.reset(1, .cancel)
    _ = third.lines()
    third.receive(blocks(16).flatMap(\.bytes))
    #expect(third.progress == .goesOn)
    third.receive(blocks(17).flatMap(\.bytes))
    #expect(third.progress == .ends(.continuationFlood))
  }

  @Test("of a client that asks and does not read: what waits for it is bounded")
  func unread() {
    var settings = HTTP2Settings()
    settings.floods.pings = HTTP2Rate(burst: 100_000, perSecond: 0)
    settings.floods.queuedFrames = 100
    // The settings of the server are not acknowledged, or streams beyond the limit would be an error at once.
    #expect(flood(settings, reads: false) { _ in [.ping()] } == "queue-flood after 100, 0 begun")
  }

  @Test("end with ENHANCE_YOUR_CALM")
  func code() {
    let server = opened()
    for _ in 0..<513 { server.receive(.ping()) }
    #expect(server.progress == .ends(.pingFlood))
    #expect(server.lines() == ["GOAWAY 0 11"])
  }
}
