import PawlHTTP
import PawlWire
import Testing

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

  @Test("a request that is reset within the same bytes is never told; one that was told is told to be closed")
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

  @Test("what came before a reset within the same bytes is told where it is wanted, and only if there was content")
  func kept() {
    let server = opened()
    server.keepsContent = { $0.head.method == .patch }
    let patch = HTTP2Frame.request("PATCH", "/")
    server.receive(
      .headers(1, patch, end: false), .data(1, [1, 2]), .data(1, [3]), .reset(1), .headers(3, patch, end: false),
      .reset(3),
      .get(5, end: false), .data(5, [1]), .reset(5), .headers(7, patch, end: false), .data(7, [1], end: true), .reset(7)
    )
    #expect(
      server.takeEvents() == [
        "began 1 PATCH / a open", "content 1 2", "content 1 1", "closed 1 8", "began 7 PATCH / a open", "content 7 1",
        "ended 7", "closed 7 8",
      ])
    #expect(server.received[1] == [1, 2, 3] && server.session.streamCount == 0)
  }

  @Test("a stream that breaks a rule within the same bytes is never told", arguments: [true, false])
  func doomed(_ isKept: Bool) {
    let server = opened()
    server.keepsContent = { _ in isKept }
    let put = HTTP2Frame.request("PUT", "/") + [("content-length", "3")]
    // A window beyond its limit, and more content than announced: in order, padded, and not all there yet.
    server.receive(.get(1), .window(1, 0x7fff_ffff))
    server.receive(.headers(3, put, end: false), .data(3, [1, 2, 3, 4]))
    server.receive(
      .headers(5, put, end: false), .data(5, [1, 2]), HTTP2Frame(kind: 0, flags: 8, stream: 5, payload: [1, 3, 4, 0]))
    server.receive(HTTP2Frame.headers(7, put, end: false).bytes + HTTP2Frame.data(7, [1, 2, 3, 4]).bytes.dropLast())
    server.receive([4])
    #expect(server.takeEvents() == [])
    #expect(server.lines() == ["RST 1 3", "RST 3 1", "RST 5 1", "RST 7 1"])
    server.receive(.headers(9, put, end: false), HTTP2Frame(kind: 0, flags: 9, stream: 9, payload: [2, 1, 2, 3, 0, 0]))
    #expect(server.takeEvents() == ["began 9 PUT / a 3|content-length: 3", "content 9 3", "ended 9"])
  }

  @Test("content of one stream in several frames is told of once, where its bytes may be moved")
  func gathered() {
    let put = HTTP2Frame.request("PUT", "/") + [("content-length", "9")]
    for isMovable in [false, true] {
      let server = opened()
      let padded = HTTP2Frame(kind: 0, flags: 8, stream: 1, payload: [2, 3, 4, 0, 0])
      if isMovable {
        server.receive(
          movable: .headers(1, put, end: false), .headers(3, put, end: false), .data(1, [1, 2]), padded, .data(1, [5]),
          .data(3, [9]), .data(1, [6, 7]), .window(0, 1), .data(1, [8, 9], end: true))
      } else {
        server.receive(
          .headers(1, put, end: false), .headers(3, put, end: false), .data(1, [1, 2]), padded, .data(1, [5]),
          .data(3, [9]), .data(1, [6, 7]), .window(0, 1), .data(1, [8, 9], end: true))
      }
      let told = server.takeEvents().filter { $0.hasPrefix("content") || $0.hasPrefix("ended") }
      #expect(
        told
          == (isMovable
            ? ["content 1 5", "content 3 1", "content 1 4", "ended 1"]
            : ["content 1 2", "content 1 2", "content 1 1", "content 3 1", "content 1 2", "content 1 2", "ended 1"]))
      #expect(server.received[1] == [1, 2, 3, 4, 5, 6, 7, 8, 9] && server.received[3] == [9])
    }
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

  @Test("a stream that is reset gives back at once what it held of the connection's window")
  func resetGivesCredit() {
    var settings = HTTP2Settings()
    settings.maxWindow = 1 << 20
    let server = opened(settings, [.get(1, end: false)])
    server.consumes = false
    let frame = HTTP2Frame.data(1, [UInt8](repeating: 0, count: 16_384))
    for _ in 0..<64 { server.receive(frame) }
    #expect(!server.lines().contains { $0.hasPrefix("WINDOW 0") })
    server.session.reset(1, .noError)
    let lines = server.lines()
    #expect(lines.first == "RST 1 0" && lines.contains("WINDOW 0 \(1 << 20)"), "\(lines)")
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

  @Test("content that waits goes on when it is resumed; an end may come without bytes")
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

  @Test("no more is produced than is asked for and a frame, over and over to the end; what comes meanwhile goes first")
  func bounded() {
    let window = HTTP2Frame.settings([(4, 0x7fff_ffff)])
    let server = opened(HTTP2Settings(), [window, .window(0, 0x7fff_ffff - 65_535), .get(1), .get(3)])
    server.answer(1, content: [UInt8](repeating: 0, count: 1 << 20))
    var sent = 0
    for turn in 0..<100 where server.session.wantsToSend {
      let bytes = server.produce(32 << 10)
      #expect(bytes.count <= 32 << 10 + 16_384 + 9)
      sent += bytes.count
      if turn == 3 { server.receive(.ping()) }
      if turn == 4 { #expect(HTTP2Frame.split(bytes).first?.description == "PING ack") }
    }
    #expect(sent > 1 << 20 && server.events.contains("closed 1 nil"))
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
    server.receive(HTTP2Serving.opening + [1, 3, 5].flatMap { HTTP2Frame.get($0).bytes })
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
      func session(
        _ session: HTTP2Session, refused refusal: RequestRefusal, _ head: RefusedHead, on stream: HTTP2StreamID
      ) {}
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
    let bytes = HTTP2Serving.opening + HTTP2Frame.get(1).bytes
    _ = bytes.withUnsafeBytes { owner.session?.receive($0, at: 0) }
    #expect(kept == nil)
  }
}
