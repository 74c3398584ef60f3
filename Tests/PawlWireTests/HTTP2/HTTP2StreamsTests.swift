import PawlHTTP
import Testing

@testable import PawlWire

@Suite("What a session knows of a stream") struct HTTP2StreamsTests {
  private typealias Reset = HTTP2StreamSlot.Reset

  private enum Event: CaseIterable { case reset, invalid, own, ownInOrder }

  private static let resets: [Reset] = [.none, .done, .doomed, .own(.cancel), .own(.noError)]

  /// What the reset is after each event, in the order of the states above. What is ours stays the first.
  private static let next: [Event: [Reset]] = [
    .reset: [.done, .done, .doomed, .own(.cancel), .own(.noError)],
    .invalid: [.doomed, .doomed, .doomed, .own(.cancel), .own(.noError)],
    .own: [.own(.internalError), .own(.internalError), .own(.internalError), .own(.cancel), .own(.noError)],
    .ownInOrder: [.own(.noError), .own(.noError), .own(.noError), .own(.cancel), .own(.noError)],
  ]

  @Test("resets, by what comes", arguments: [false, true])
  func resets(_ isClosed: Bool) {
    for event in Event.allCases {
      for (index, reset) in Self.resets.enumerated() {
        var stream = Self.stream(in: reset)
        stream.isClosed = isClosed
        let isOver = isClosed || stream.isResetByOwn
        var expected = Self.next[event]?[index]
        switch event {
        case .reset: stream.noteReset()
        case .invalid: stream.noteInvalid()
        // Of a stream that is closed, or was reset so before, impossible: nothing is sent.
        case .own, .ownInOrder:
          let isDone = stream.resetOwn(event == .own ? .internalError : .noError)
          #expect(isDone == !isOver)
          if isOver { expected = reset }
        }
        #expect(stream.reset == expected, "\(reset) \(event)")
      }
    }
  }

  @Test("what follows from each reset: it may be told of, takes content, was reset, was given up")
  func derived() {
    let facts = Self.resets.map { reset in
      var stream = Self.stream(in: reset)
      stream.telling = .told
      return [stream.mayBeTold, stream.takesContent, stream.wasReset, stream.wasGivenUp]
    }
    #expect(
      facts == [
        [true, true, false, false], [true, true, true, true], [false, false, true, false],
        [false, false, true, false], [false, false, false, false],
      ])
  }

  @Test("what follows from what is told: it is told, refused, takes content")
  func telling() {
    let refusal = RequestRefusal(400, "No.")
    let request = HTTP2Request(
      head: RequestHead(
        method: .get, target: [0x2f], authority: [0x61], version: .http2, fields: Fields(), framing: .none),
      protocol: nil)
    let read = RefusedHead(method: [], target: [], host: [])
    let tellings: [HTTP2StreamSlot.Telling] = [
      .unread, .request(request), .told, .refusal(refusal, read), .toldRefusal,
    ]
    let facts = tellings.map { telling in
      var stream = HTTP2StreamSlot(id: 1, window: HTTP2ReceiveWindow(size: 1))
      stream.telling = telling
      return [stream.isTold, stream.isRefused, stream.takesContent]
    }
    #expect(
      facts == [
        [false, false, false], [false, false, false], [true, false, true], [false, true, false], [true, true, false],
      ])
  }

  @Test("a slot is used again, and holds nothing of the stream before")
  func slots() {
    var streams = HTTP2Streams()
    let first = streams.open(1, window: 10)
    streams[first].telling = .told
    streams[first].noteReset()
    streams.close(first)
    #expect(streams.count == 0 && !streams.receives(first))
    #expect(streams.open(3, window: 10) == first)
    #expect(streams[first].id == 3 && !streams[first].isTold && streams[first].reset == .none)
    #expect(streams.count == 1 && streams.receives(first))
  }

  private static func stream(in reset: Reset) -> HTTP2StreamSlot {
    var stream = HTTP2StreamSlot(id: 1, window: HTTP2ReceiveWindow(size: 1))
    switch reset {
    case .none: break
    case .done: stream.noteReset()
    case .doomed: stream.noteInvalid()
    case .own(let code): _ = stream.resetOwn(code)
    }
    return stream
  }
}
