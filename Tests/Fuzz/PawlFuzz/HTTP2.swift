import PawlHTTP
import PawlWire

extension FuzzTarget {
  /// HTTP/2: frames and header blocks. Whatever comes, each stream has one beginning and one end, also in pieces.
  static let http2 = [
    FuzzTarget(name: "http2", run: http2), FuzzTarget(name: "http2-fields", run: http2Fields),
  ]

  /// Any bytes behind the preface.
  @Sendable private static func http2(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let (choice, answers) = (input.number(below: 64), input.flag())
    let conversation = HTTP2Conversation(answers: answers)
    conversation.run(
      HTTP2Conversation.opening + input.text, pieces: FuzzInput.pieces(of: 24 + 18 + input.text.count, by: choice))
  }

  /// Header blocks: each line of the input is one field of a request, written without compression.
  @Sendable private static func http2Fields(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let (ends, splits) = (input.flag(), input.flag())
    var block: [UInt8] = []
    for line in input.parts() {
      // A colon at the beginning belongs to the name of a pseudo-field.
      let colon = line.dropFirst().firstIndex(of: 0x3a) ?? line.endIndex
      let (name, value) = (line[..<colon], line[colon...].dropFirst())
      guard !name.isEmpty, name.count < 127, value.count < 127 else { continue }
      block += [0x00, UInt8(name.count)] + name + [UInt8(value.count)] + value
    }
    guard block.count < 16_000 else { return }
    let half = splits ? block.count / 2 : block.count
    var frames = HTTP2Conversation.frame(1, (ends ? 1 : 0) | (splits ? 0 : 4), 1, block[..<half])
    if splits { frames += HTTP2Conversation.frame(9, 4, 1, block[half...]) }
    let conversation = HTTP2Conversation(answers: true)
    conversation.run(HTTP2Conversation.opening + frames, pieces: [HTTP2Conversation.opening.count + frames.count])
    for request in conversation.requests { checkRequest(request) }
  }

  /// A request over HTTP/2 can be written as one of HTTP/1.1, and means the same there (RFC 9113 §8.2.1, §8.3).
  private static func checkRequest(_ request: HTTP2Request) {
    guard request.protocol == nil, request.head.method != .connect else { return }
    var output: [UInt8] = []
    HeadWriter.write(request.head, into: &output)
    let limits = HeadLimits(maxHead: output.count + 1, maxFields: 4096, maxRequestLine: output.count, maxMethod: 4096)
    var parser = RequestParser(limits: limits)
    guard parser.parse(output, 0..<output.count) == .head(byteCount: output.count) else {
      breach("what is written for HTTP/1.1 is not one request: \(output)")
    }
    let second = parser.makeHead(output)
    if second.method != request.head.method || second.target != request.head.target { breach("another request") }
    if second.framing != request.head.framing { breach("framing \(second.framing), not \(request.head.framing)") }
  }
}

/// A session with a client that sends what it likes.
private final class HTTP2Conversation: HTTP2SessionDelegate {
  let session = HTTP2Session(HTTP2Settings())
  private let answers: Bool
  private var open: Set<HTTP2StreamID> = [], known: Set<HTTP2StreamID> = []
  private(set) var requests: [HTTP2Request] = []

  init(answers: Bool) {
    self.answers = answers
    session.delegate = self
  }

  static let opening: [UInt8] =
    HTTP2Session.preface.withUTF8Buffer { Array($0) } + frame(4, 0, 0, []) + frame(4, 1, 0, [])

  static func frame(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: ArraySlice<UInt8>) -> [UInt8] {
    let count = payload.count
    let length = [UInt8(count >> 16 & 0xff), UInt8(count >> 8 & 0xff), UInt8(count & 0xff)]
    return length + [kind, flags] + withUnsafeBytes(of: stream.bigEndian) { Array($0) } + payload
  }

  func run(_ bytes: [UInt8], pieces: [Int]) {
    var (at, now) = (0, Int64(1_000_000_000))
    var output: [UInt8] = []
    for piece in pieces {
      let end = min(at + piece, bytes.count)
      let progress = bytes[at..<end].withUnsafeBytes { session.receive($0, at: now) }
      output.removeAll()
      let sent = session.produce(into: &output, atMost: 1 << 20)
      (at, now) = (end, now + 1_000_000)
      guard progress == .goesOn, sent == .goesOn else { return }
    }
    if session.streamCount < open.count { breach("\(open.count) open streams of \(session.streamCount)") }
  }

  private func begins(_ stream: HTTP2StreamID) {
    guard stream % 2 == 1, known.insert(stream).inserted else { breach("stream \(stream) begins again") }
    open.insert(stream)
  }

  private func isOpen(_ stream: HTTP2StreamID) {
    if !open.contains(stream) { breach("news of stream \(stream), which is not open") }
  }

  func session(_ session: HTTP2Session, began request: HTTP2Request, on stream: HTTP2StreamID) {
    begins(stream)
    requests.append(request)
    if answers { session.sendHead(ResponseHead(status: 200), length: nil, hasContent: true, on: stream) }
  }

  func session(_ session: HTTP2Session, refused refusal: RequestRefusal, on stream: HTTP2StreamID) {
    begins(stream)
    session.sendHead(ResponseHead(status: refusal.status), length: 0, hasContent: false, on: stream)
  }

  func session(_ session: HTTP2Session, content: UnsafeRawBufferPointer, of stream: HTTP2StreamID) {
    isOpen(stream)
    session.consumed(content.count, of: stream)
  }

  func session(_ session: HTTP2Session, endedContentOf stream: HTTP2StreamID, trailers: Fields) { isOpen(stream) }
  func session(_ session: HTTP2Session, answered stream: HTTP2StreamID) { isOpen(stream) }

  func session(_ session: HTTP2Session, closed stream: HTTP2StreamID, by code: UInt32?) {
    isOpen(stream)
    open.remove(stream)
  }

  func session(_ session: HTTP2Session, offerOf stream: HTTP2StreamID, limit: Int) -> HTTP2Offer {
    .bytes(min(limit, 100), isLast: true)
  }

  func session(
    _ session: HTTP2Session, append count: Int, of stream: HTTP2StreamID, to output: inout [UInt8]
  ) -> Bool {
    output += repeatElement(0x78, count: count)
    return true
  }
}
