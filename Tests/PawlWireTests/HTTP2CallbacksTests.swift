import PawlHTTP
import PawlWire
import Testing

/// A session with its opening exchanged; more settings of the client may follow.
private func opened(
  _ settings: HTTP2Settings = HTTP2Settings(), _ frames: [HTTP2Frame] = []
) -> HTTP2Serving {
  let server = HTTP2Serving(settings)
  server.receive(HTTP2Serving.opening + frames.flatMap(\.octets))
  _ = server.lines()
  return server
}

private let content = [UInt8](repeating: 0x61, count: 100_000)

@Suite("HTTP/2 session: streams, resets and ends") struct HTTP2CallbacksTests {
  @Test("the opening tells what the session allows")
  func opening() {
    let server = HTTP2Serving()
    server.receive(HTTP2Serving.opening)
    let frames = server.frames()
    #expect(frames.map(\.description) == ["SETTINGS", "SETTINGS ack", "WINDOW 0 \(4 << 20 - 65535)"])
    let entries = frames.first.map { frame in
      stride(from: 0, to: frame.payload.count, by: 6).map { at in
        "\(frame.payload[at + 1])=\(frame.word(at: at + 2))"
      }
    }
    // MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_HEADER_LIST_SIZE, ENABLE_CONNECT_PROTOCOL, NO_RFC7540_PRIORITIES.
    #expect(entries == ["3=128", "4=1048576", "6=\(32768 + 28 * 128)", "8=1", "9=1"])
  }

  @Test("a request that is reset within the same octets is never told; one that was told is told to be closed")
  func resets() {
    let server = opened()
    server.receive(.get(1), .reset(1), .get(3), .get(5, end: false), .data(5, [1, 2]), .reset(5, 5), .get(7))
    #expect(server.takeEvents() == ["began 3 GET / a none", "ended 3", "began 7 GET / a none", "ended 7"])
    server.receive(.reset(3, 8))
    server.receive(.reset(7, 0))
    #expect(server.takeEvents() == ["closed 3 8", "closed 7 0"])
    #expect(server.session.streamCount == 0 && server.lines() == [])
    // What is done for streams that are gone does nothing.
    server.answer(1, content: content)
    server.session.sendInterim(ResponseHead(status: 103), on: 3)
    server.session.resume(3)
    server.session.reset(7, .cancel)
    server.session.consumed(5, of: 5)
    #expect(server.lines() == [] && server.takeEvents() == [])
  }

  @Test("an own reset overtakes content, and is told as closed")
  func ownReset() {
    let server = opened(HTTP2Settings(), [.get(1), .get(3, end: false)])
    server.answer(1, content: content)
    _ = server.produce(20_000)
    server.session.reset(1, .internalError)
    server.session.reset(1, .cancel)
    server.session.reset(3, .noError)
    server.answer(3, 204)
    _ = server.takeEvents()
    #expect(server.lines() == ["RST 1 2", "RST 3 0"])
    #expect(server.takeEvents() == ["closed 1 2", "closed 3 nil"])
    server.receive(.data(3, [1, 2, 3]))
    #expect(server.takeEvents() == [] && server.lines() == [] && server.progress == .goesOn)
  }

  @Test("an answer that is complete before its request is followed by RST_STREAM(NO_ERROR)")
  func early() {
    let server = opened(HTTP2Settings(), [.get(1, end: false), .get(3, end: false)])
    server.onAnswered = { server.session.reset($0, .noError) }
    server.answer(1, content: latin("abc"))
    server.answer(3, 204)
    _ = server.takeEvents()
    #expect(server.lines() == ["HEADERS 1", "HEADERS 3 end", "DATA 1 3 end"])
    #expect(server.takeEvents() == ["answered 3", "answered 1"])
    #expect(server.lines() == ["RST 3 0", "RST 1 0"])
    #expect(server.takeEvents() == ["closed 3 nil", "closed 1 nil"])
  }

  @Test("content that fails resets its stream, and leaves no part of a frame behind")
  func failing() {
    let server = opened(HTTP2Settings(), [.get(1), .get(3), .get(5)])
    server.answer(1, content: content)
    server.failure = .cancel
    #expect(server.lines() == ["HEADERS 1", "RST 1 8"])
    server.failure = nil
    server.appendsTooLittle = true
    server.answer(3, content: content)
    let lines = server.lines() + server.lines()
    #expect(lines.filter { $0.contains(" 3") } == ["HEADERS 3", "RST 3 2"])
    server.appendsTooLittle = false
    server.answer(5, content: latin("x"))
    #expect(server.lines() == ["HEADERS 5", "DATA 5 1 end"])
  }

  @Test("content that waits goes on when it is resumed; an end may come without octets")
  func later() {
    let server = opened(HTTP2Settings(), [.get(1)])
    server.pausesAtEnd = true
    server.answer(1, content: latin("ab"))
    #expect(server.lines() == ["HEADERS 1", "DATA 1 2"])
    #expect(!server.session.wantsToSend)
    server.content[1] = latin("c")
    server.session.resume(1)
    #expect(server.session.wantsToSend && server.lines() == ["DATA 1 1"])
    server.pausesAtEnd = false
    server.session.resume(1)
    #expect(server.lines() == ["DATA 1 0 end"])
  }

  @Test("content-length is held to: too much, and too little, resets the stream before the end is told")
  func contentLength() {
    let put = HTTP2Frame.request("PUT", "/") + [("content-length", "3")]
    let server = opened(
      HTTP2Settings(), [.headers(1, put, end: false), .headers(3, put, end: false), .headers(5, put, end: false)])
    _ = server.takeEvents()
    server.receive(.data(1, [1, 2, 3]), .data(1, [4], end: true))
    server.receive(.data(3, [1, 2], end: true))
    server.receive(.data(5, [1, 2]), .data(5, [3], end: true))
    #expect(server.takeEvents() == ["content 1 3", "content 3 2", "content 5 2", "content 5 1", "ended 5"])
    #expect(server.lines() == ["RST 1 1", "RST 3 1"])
    #expect(server.takeEvents() == ["closed 1 1", "closed 3 1"])
  }

  @Test("a refused request is answered, and its content goes nowhere")
  func refused() {
    let server = opened(HTTP2Settings(), [.get(1, "/#", end: false)])
    server.answer(1, 400, content: latin("no"))
    for _ in 0..<300 { server.receive(.data(1, [UInt8](repeating: 0, count: 16_000))) }
    server.receive(.data(1, [], end: true))
    #expect(server.takeEvents() == ["refused 1 400"])
    let lines = server.lines()
    #expect(lines.contains("HEADERS 1") && lines.contains("DATA 1 2 end"))
    #expect(server.takeEvents() == ["answered 1", "closed 1 nil"])
    #expect(server.progress == .goesOn)
  }

  @Test("streams beyond the limit are refused; the limit itself is not")
  func concurrency() {
    var settings = HTTP2Settings()
    settings.maxStreams = 2
    let server = opened(settings)
    server.receive(.get(1), .get(3))
    #expect(server.session.streamCount == 2)
    server.receive(.get(5))
    #expect(server.lines() == ["GOAWAY 3 1"])
    #expect(server.progress == .ends(.protocolError))
    #expect(!server.events.contains { $0.hasPrefix("began 5") })
  }

  @Test("the delegate may answer, reset and send from within what it is told")
  func reentrancy() {
    let server = HTTP2Serving()
    var sent: [UInt8] = []
    server.onBegan = { stream, _ in
      server.answer(stream, content: latin("abc"))
      sent += server.produce()
      server.session.reset(stream + 2, .cancel)
    }
    server.onEnded = { _ in sent += server.produce() }
    server.receive(HTTP2Serving.opening + [1, 3, 5].flatMap { HTTP2Frame.get($0).octets })
    sent += server.produce()
    let told = server.takeEvents().filter { !$0.hasPrefix("answered") }
    // The third stream was reset before it was told of, and so never is.
    #expect(
      told == ["began 1 GET / a none", "ended 1", "began 5 GET / a none", "ended 5", "closed 1 nil", "closed 5 nil"])
    #expect(HTTP2Frame.split(sent).filter { $0.kind == 0 }.map(\.description) == ["DATA 1 3 end", "DATA 5 3 end"])
  }

  @Test("a session whose delegate lets go of it meanwhile ends in peace")
  func release() {
    final class Owner: HTTP2SessionDelegate {
      var session: HTTP2Session? = HTTP2Session(HTTP2Settings())
      func session(_ session: HTTP2Session, began request: HTTP2Request, on stream: HTTP2StreamID) {
        self.session = nil
        session.sendHead(ResponseHead(status: 200), length: nil, hasContent: false, on: stream)
      }
      func session(_ session: HTTP2Session, refused refusal: RequestRefusal, on stream: HTTP2StreamID) {}
      func session(_ session: HTTP2Session, content: UnsafeRawBufferPointer, of stream: HTTP2StreamID) {}
      func session(_ session: HTTP2Session, endedContentOf stream: HTTP2StreamID, trailers: Fields) {}
      func session(_ session: HTTP2Session, closed stream: HTTP2StreamID, by code: UInt32?) {}
      func session(_ session: HTTP2Session, offerOf stream: HTTP2StreamID, limit: Int) -> HTTP2Offer { .later }
      func session(
        _ session: HTTP2Session, append count: Int, of stream: HTTP2StreamID, to output: inout [UInt8]
      ) -> Bool { false }
    }
    let owner = Owner()
    owner.session?.delegate = owner
    weak let kept = owner.session
    let octets = HTTP2Serving.opening + HTTP2Frame.get(1).octets
    _ = octets.withUnsafeBytes { owner.session?.receive($0, at: 0) }
    #expect(kept == nil)
  }
}

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

@Suite("HTTP/2 floods, as a connection sees them") struct HTTP2FloodTests {
  private static let end = "GOAWAY"

  /// How many of these frames a connection takes before it ends, and why.
  private func flood(
    _ settings: HTTP2Settings = HTTP2Settings(), reads: Bool = true, _ frames: (Int32) -> [HTTP2Frame]
  ) -> String {
    let server = opened(settings)
    var began = 0
    for count in 0..<20_000 {
      server.receive(frames(Int32(2 * count + 1)).flatMap(\.octets))
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
    // The window is exceeded: pawl resets, and the request was begun by then.
    #expect(flood { [.get($0), .window($0, 0x7fff_ffff)] }.hasPrefix("reset-flood after 256"))
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
    server.receive(blocks(16).flatMap(\.octets))
    #expect(server.events.first?.hasPrefix("began 1") == true && server.progress == .goesOn)
    let other = opened()
    other.receive(blocks(17).flatMap(\.octets))
    #expect(other.events == [] && other.progress == .ends(.continuationFlood) && other.lines() == ["GOAWAY 0 11"])
    let third = opened(HTTP2Settings(), [.get(1), .reset(1)])
    third.receive(blocks(17).flatMap(\.octets))
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

  @Test("PRIORITY_UPDATE changes a stream that runs, and one that is yet to come")
  func updates() {
    #expect(order([.get(1), .get(3), .priorityUpdate(3, "u=0")], [1, 3]) == [3, 3, 3, 1, 1, 1])
    #expect(order([.priorityUpdate(3, "u=0"), .get(1), .get(3)], [1, 3]) == [3, 3, 3, 1, 1, 1])
  }

  @Test("PRIORITY_UPDATE for streams that never come costs no more than the streams that may be there")
  func bounded() {
    let server = opened()
    let many = (0..<128).flatMap { HTTP2Frame.priorityUpdate(Int32(2 * $0 + 1), "u=0").octets }
    server.receive(many)
    #expect(server.progress == .goesOn && server.session.streamCount == 0)
    let other = opened()
    other.receive(many + HTTP2Frame.priorityUpdate(999, "u=0").octets)
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

@Suite("HTTP/2: octets that nobody should send") struct HTTP2MutationTests {
  @Test("changed octets of a good conversation never do more than end it", arguments: 0..<16)
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
      ].flatMap(\.octets)
    for _ in 0..<150 {
      var octets = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: 24..<octets.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: octets[at] = UInt8.random(in: 0...255, using: &random)
        case 1: octets.remove(at: at)
        default: octets.insert(UInt8.random(in: 0...255, using: &random), at: at)
        }
      }
      converse(octets, piece: Int.random(in: 1...200, using: &random))
    }
  }

  private func converse(_ octets: [UInt8], piece: Int) {
    let server = HTTP2Serving()
    server.onBegan = { stream, _ in server.answer(stream, content: latin("hello")) }
    var open: Set<String> = []
    for part in octets.pieces(piece) {
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
