import PawlHTTP
import PawlWire
import Testing

private let content = [UInt8](repeating: 0x61, count: 100_000)

@Suite("HTTP/2 connections: their ends (RFC 9113 §5.4, §6.8)") struct HTTP2EndTests {
  @Test("a drain is announced, then final, and ends with the last stream")
  func drain() {
    let server = opened(HTTP2Settings(), [.get(1)])
    server.session.drain()
    server.session.drain()
    let frames = server.frames()
    #expect(frames.map(\.description) == ["PING", "GOAWAY 2147483647 0"])
    // What was on its way is still taken.
    server.receive(.get(3))
    server.receive(.ping(1, frames[0].payload))
    #expect(server.lines() == ["GOAWAY 3 0"])
    server.receive(.get(5))
    #expect(server.takeEvents().filter { $0.hasPrefix("began") } == ["began 1 GET / a none", "began 3 GET / a none"])
    server.answer(1, 204)
    server.answer(3, 204)
    #expect(server.progress == .goesOn)
    #expect(server.lines() == ["HEADERS 1 end", "HEADERS 3 end"])
    #expect(server.progress == .ends(.goAway))
  }

  @Test("a drain that the client does not answer is final after a second")
  func silentDrain() {
    let server = opened(HTTP2Settings(), [.get(1)])
    server.session.drain()
    _ = server.lines()
    #expect(server.session.check(at: server.now + 999_999_999) == .goesOn && server.lines() == [])
    #expect(server.session.check(at: server.now + 1_000_000_000) == .goesOn && server.lines() == ["GOAWAY 1 0"])
  }

  @Test("settings that nobody acknowledges end the connection")
  func settingsTimeout() {
    let server = HTTP2Serving()
    server.receive(Array(HTTP2Serving.opening.dropLast(9)))
    _ = server.lines()
    #expect(server.session.check(at: server.now + 9_999_999_999) == .goesOn)
    #expect(server.session.check(at: server.now + 10_000_000_000) == .ends(.settingsTimeout))
    #expect(server.lines() == ["GOAWAY 0 4"])
    #expect(opened().session.check(at: .max / 2) == .goesOn)
  }

  @Test("an end at once says so, and nothing is told any more")
  func end() {
    let server = opened(HTTP2Settings(), [.get(1)])
    _ = server.takeEvents()
    server.answer(1, content: content)
    server.session.end(.internalError)
    #expect(server.session.wantsToSend && server.lines() == ["GOAWAY 1 2"])
    #expect(server.progress == .ends(.goAway) && !server.session.wantsToSend && server.lines() == [])
    server.receive(.get(3), .reset(1))
    #expect(server.takeEvents() == [] && server.progress == .ends(.goAway))
  }

  @Test("a client's GOAWAY ends the connection with its last stream")
  func clientGoAway() {
    let server = opened(
      HTTP2Settings(), [.get(1), HTTP2Frame(kind: 7, payload: HTTP2Frame.word(0) + HTTP2Frame.word(0))])
    #expect(server.progress == .goesOn)
    server.answer(1, 204)
    #expect(server.lines() == ["HEADERS 1 end"] && server.progress == .ends(.goAway))
  }

  private static let wrong: [(HTTP2Frame, Int)] = [
    (HTTP2Frame(kind: 0, flags: 1, stream: 1), 1), (HTTP2Frame(kind: 9, flags: 4, stream: 1), 1),
    (HTTP2Frame(kind: 4, payload: [1]), 6), (HTTP2Frame(kind: 4, stream: 1), 1),
    (HTTP2Frame.settingsAcknowledgement, 1),
    (HTTP2Frame(kind: 6, payload: [1]), 6), (HTTP2Frame(kind: 3, stream: 1, payload: [1]), 6),
    (HTTP2Frame.reset(1), 1),
    (HTTP2Frame.window(0, 0), 1), (HTTP2Frame.window(0, 0x7fff_ffff), 3), (HTTP2Frame.get(2), 1),
    (HTTP2Frame.get(0), 1),
    (HTTP2Frame.settings([(4, 0x8000_0000)]), 3), (HTTP2Frame.settings([(5, 1)]), 1),
    (HTTP2Frame(kind: 5, flags: 4, stream: 1, payload: [0, 0, 0, 2]), 1),
    (HTTP2Frame(kind: 1, flags: 5, stream: 1, payload: [0xff, 0xff, 0xff, 0xff, 0xff]), 9),
    (HTTP2Frame(kind: 0, stream: 1, payload: [UInt8](repeating: 0, count: 16_385)), 6),
  ]

  @Test("breaches of the protocol end the connection with their code", arguments: wrong)
  func breaches(_ frame: HTTP2Frame, _ code: Int) {
    let server = opened()
    server.receive(frame)
    let last = server.lines().last ?? ""
    #expect(last.hasPrefix("GOAWAY") && last.hasSuffix(" \(code)"), "\(last)")
    #expect(server.progress == .ends(.protocolError))
    #expect(!server.events.contains { $0.hasPrefix("began") })
  }

  @Test("what is no HTTP/2 ends the connection")
  func noPreface() {
    let server = HTTP2Serving()
    server.receive(latin("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
    #expect(server.progress == .ends(.protocolError))
    #expect(server.lines() == ["GOAWAY 0 1"])
  }

  @Test("a client that sends more than its credit is told so")
  func flowControl() {
    let server = opened(HTTP2Settings(), [.get(1, end: false)])
    server.consumes = false
    let frame = HTTP2Frame.data(1, [UInt8](repeating: 0, count: 16_384))
    for _ in 0..<64 { server.receive(frame) }
    #expect(server.lines().filter { !$0.hasPrefix("WINDOW 0") } == [])
    server.receive(.data(1, [0]))
    #expect(server.lines().contains("RST 1 3"))
    #expect(server.received[1]?.count == 1 << 20)
  }
}
