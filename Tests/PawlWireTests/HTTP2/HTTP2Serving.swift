import PawlHTTP
import PawlWire

/// A session and who it tells: what it is told is kept as lines, what it is to answer is given beforehand.
final class HTTP2Serving: HTTP2SessionDelegate {
  let session: HTTP2Session
  var events: [String] = []
  /// Content is done with as soon as it comes.
  var consumes = true
  var keepsContent: (HTTP2Request) -> Bool = { _ in false }
  /// Called for each request, after it was noted.
  var onBegan: ((HTTP2StreamID, HTTP2Request) -> Void)?
  var onEnded: ((HTTP2StreamID) -> Void)?
  var onAnswered: ((HTTP2StreamID) -> Void)?
  /// Content that waits to be sent, and what follows it.
  var content: [HTTP2StreamID: [UInt8]] = [:]
  var trailers: [HTTP2StreamID: Fields] = [:]
  var pausesAtEnd = false
  var failure: HTTP2ErrorCode?
  var appendsTooLittle = false
  /// Answers to plain requests by their path, with the fields they get besides.
  var ready: [String: (HTTP2ReadyAnswer, more: [(StaticString, String, isUnique: Bool)])] = [:]
  var gets: [HTTP2PlainGet] = []
  /// Bytes of each stream's content that came.
  var received: [HTTP2StreamID: [UInt8]] = [:]
  var progress = HTTP2Session.Progress.goesOn
  var now: Int64 = 1_000_000_000

  init(_ settings: HTTP2Settings = HTTP2Settings()) {
    session = HTTP2Session(settings)
    session.delegate = self
  }

  // MARK: Bytes

  func receive(_ bytes: [UInt8]) {
    progress = bytes.withUnsafeBytes { session.receive($0, at: now) }
  }

  func receive(movable frames: HTTP2Frame...) {
    var bytes = frames.flatMap(\.bytes)
    progress = bytes.withUnsafeMutableBytes { session.receive(movable: $0, at: now) }
  }

  func receive(_ frames: HTTP2Frame...) { receive(frames.flatMap(\.bytes)) }

  /// Preface and settings of a client, with the acknowledgement of the session's.
  static let opening =
    session(HTTP2Session.preface) + HTTP2Frame.settings().bytes + HTTP2Frame.settingsAcknowledgement.bytes
  private static func session(_ preface: StaticString) -> [UInt8] { preface.withUTF8Buffer { Array($0) } }

  /// Everything there is to send.
  func produce(_ limit: Int = .max) -> [UInt8] {
    var output: [UInt8] = []
    progress = session.produce(into: &output, atMost: limit)
    return output
  }

  func frames() -> [HTTP2Frame] { HTTP2Frame.split(produce()) }

  /// As lines, without SETTINGS, the first WINDOW_UPDATE, and PINGs that measure the way.
  func lines() -> [String] {
    frames().map(\.description).filter {
      !$0.hasPrefix("SETTINGS") && $0 != "PING" && $0 != "WINDOW 0 \(4 << 20 - 65535)"
    }
  }

  func takeEvents() -> [String] {
    defer { events = [] }
    return events
  }

  // MARK: Answers

  func answer(
    _ stream: HTTP2StreamID, _ status: Int = 200, _ fields: [(FieldName, String)] = [], length: UInt64? = nil,
    content: [UInt8]? = nil, trailers: Fields = Fields()
  ) {
    var head = ResponseHead(status: status)
    for (name, value) in fields { head.fields.append(name, value) }
    self.content[stream] = content
    self.trailers[stream] = trailers
    session.sendHead(head, length: length, hasContent: content != nil, on: stream)
  }

  // MARK: Told

  func session(_ session: HTTP2Session, began request: HTTP2Request, on stream: HTTP2StreamID) {
    events.append("began \(stream) \(describe(request))")
    onBegan?(stream, request)
  }

  func session(
    _ session: HTTP2Session, answers get: HTTP2PlainGet, on stream: HTTP2StreamID, with values: inout HTTP2FieldValues
  ) -> HTTP2ReadyAnswer? {
    gets.append(get)
    guard let (answer, more) = ready[get.bytes[get.target].text] else { return nil }
    for (name, value, isUnique) in more { values.append(name, latin(value), isUnique: isUnique) }
    events.append("ready \(stream)")
    return answer
  }

  func session(_ session: HTTP2Session, closedReady stream: HTTP2StreamID, by code: UInt32?, sent: Int) {
    events.append("closed-ready \(stream) \(code.map { "\($0)" } ?? "nil") \(sent)")
  }

  func session(_ session: HTTP2Session, keepsContentOf request: HTTP2Request) -> Bool { keepsContent(request) }

  func session(_ session: HTTP2Session, refused refusal: RequestRefusal, _ head: RefusedHead, on stream: HTTP2StreamID)
  {
    events.append("refused \(stream) \(refusal.status)")
  }

  func session(_ session: HTTP2Session, content: UnsafeRawBufferPointer, of stream: HTTP2StreamID) {
    events.append("content \(stream) \(content.count)")
    received[stream, default: []] += content
    if consumes { session.consumed(content.count, of: stream) }
  }

  func session(_ session: HTTP2Session, endedContentOf stream: HTTP2StreamID, trailers: Fields) {
    let text = trailers.lines.map { "\(trailers.name($0).text)=\(trailers.value($0).text)" }.joined(separator: "|")
    events.append("ended \(stream)\(text.isEmpty ? "" : " \(text)")")
    onEnded?(stream)
  }

  func session(_ session: HTTP2Session, answered stream: HTTP2StreamID) {
    events.append("answered \(stream)")
    onAnswered?(stream)
  }

  func session(_ session: HTTP2Session, closed stream: HTTP2StreamID, by code: UInt32?) {
    events.append("closed \(stream) \(code.map { "\($0)" } ?? "nil")")
  }

  func session(_ session: HTTP2Session, offerOf stream: HTTP2StreamID, limit: Int) -> HTTP2Offer {
    if let failure { return .failed(failure) }
    guard let waiting = content[stream], !waiting.isEmpty else {
      return pausesAtEnd ? .later : .end(trailers[stream] ?? Fields())
    }
    let isLast = waiting.count <= limit && !pausesAtEnd && (trailers[stream]?.count ?? 0) == 0
    return .bytes(min(waiting.count, limit), isLast: isLast)
  }

  func session(
    _ session: HTTP2Session, append count: Int, of stream: HTTP2StreamID, to output: inout [UInt8]
  ) -> Bool {
    output += content[stream]?.prefix(count - (appendsTooLittle ? 1 : 0)) ?? []
    content[stream]?.removeFirst(count)
    return true
  }
}

/// `GET /path host framing|name: value|…` without the `host` line; `websocket` before it for an extended CONNECT.
func describe(_ request: HTTP2Request) -> String {
  let head = request.head
  let framing =
    switch head.framing {
    case .none: "none"
    case .length(let count): "\(count)"
    case .chunked: "open"
    case .untilClose: "close"
    }
  let fields = head.fields.lines.filter { $0.name != .host }.map {
    "|\(head.fields.name($0).text): \(head.fields.value($0).text)"
  }
  let start = "\(head.method.bytes[...].text) \(head.target.text) \(head.authority.text) \(framing)"
  return (request.protocol.map { "\($0.text) " } ?? "") + start + fields.joined()
}

/// A session with its opening exchanged; more settings of the client may follow.
func opened(
  _ settings: HTTP2Settings = HTTP2Settings(), _ frames: [HTTP2Frame] = []
) -> HTTP2Serving {
  let server = HTTP2Serving(settings)
  server.receive(HTTP2Serving.opening + frames.flatMap(\.bytes))
  _ = server.lines()
  return server
}
