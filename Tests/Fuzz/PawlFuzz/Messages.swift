import PawlHTTP
import PawlWire

extension FuzzTarget {
  /// HTTP/1.1 heads and bodies, and the PROXY protocol: what arrives in pieces means the same as what arrives at once.
  static let messages = [
    FuzzTarget(name: "request-head", run: requestHead), FuzzTarget(name: "response-head", run: responseHead),
    FuzzTarget(name: "chunked", run: chunked), FuzzTarget(name: "proxy", run: proxy),
  ]

  @Sendable private static func requestHead(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let (choice, isSecure, isSmall) = (input.number(below: 64), input.flag(), input.flag())
    let buffer = input.text
    let limits =
      isSmall
      ? HeadLimits(maxHead: 256, maxFields: 4, maxRequestLine: 64, maxMethod: 8, leadingEmptyLines: 1) : HeadLimits()
    var parser = RequestParser(limits: limits, isSecure: isSecure)
    let whole = parser.parse(buffer, 0..<buffer.count)
    var slow = RequestParser(limits: limits, isSecure: isSecure)
    var (end, result) = (0, RequestParse.needMore)
    for piece in FuzzInput.pieces(of: buffer.count, by: choice) where result == .needMore {
      end += piece
      result = slow.parse(buffer, 0..<end)
    }
    switch (result, whole) {
    // A line that is wrong already may be refused only when its end has come.
    case (.needMore, .refused): break
    default: if result != whole { breach("a request head in pieces: \(result), at once: \(whole)") }
    }
    guard case .head(let count) = whole else { return }
    if count > limits.maxHead || count > buffer.count { breach("a head of \(count) bytes") }
    let head = parser.makeHead(buffer)
    if slow.makeHead(buffer) != head { breach("the heads differ") }
    checkPlain(parser, head, buffer)
    checkForwarded(head, isSecure: isSecure)
  }

  /// What the short way reads is what the head holds.
  private static func checkPlain(_ parser: RequestParser, _ head: RequestHead, _ buffer: [UInt8]) {
    guard let plain = parser.plainGet() else { return }
    if head.method != .get || head.framing != .none || head.version != .http11 { breach("no plain GET") }
    if buffer[plain.target] != head.target { breach("the target of the short way") }
    if buffer[plain.authority] != head.authority { breach("the authority of the short way") }
    for (range, name) in [(plain.range, FieldName.range), (plain.ifRange, .ifRange), (plain.requestID, .xRequestID)] {
      if range.map({ buffer[$0] }) != (range == nil ? nil : head.fields.only(name)) { breach("\(name)") }
    }
    if plain.range == nil, head.fields.contains(.range) { breach("a range is lost") }
    if plain.hasCookie != head.fields.contains(.cookie) { breach("a cookie is lost") }
    for name in [FieldName.authorization, .ifNoneMatch, .ifMatch, .cacheControl] where head.fields.contains(name) {
      breach("\(name) on the short way")
    }
  }

  /// A request that is written to the origin means there what it means here: one message, with the same fields and framing.
  private static func checkForwarded(_ head: RequestHead, isSecure: Bool) {
    guard head.method != .connect else { return }
    var output: [UInt8] = []
    HeadWriter.write(head, into: &output)
    let limits = HeadLimits(maxHead: output.count + 1, maxFields: 4096, maxRequestLine: output.count, maxMethod: 4096)
    var parser = RequestParser(limits: limits, isSecure: isSecure)
    let again = parser.parse(output, 0..<output.count)
    // A request of HTTP/1.0 may have no host; the server gives it one before it is written.
    guard !head.authority.isEmpty || head.fields.contains(.host) else { return }
    guard again == .head(byteCount: output.count) else { breach("what is written is read as \(again)") }
    let second = parser.makeHead(output)
    if second.framing != head.framing { breach("framing \(second.framing), not \(head.framing)") }
    if second.method != head.method || second.target != head.target { breach("another request") }
    let own: (FieldName) -> Bool = { [.host, .contentLength, .transferEncoding].contains($0) }
    let (a, b) = (without(own, head.fields), without(own, second.fields))
    if a != b { breach("fields: \(b), not \(a)") }
  }

  private static func without(_ isOwn: (FieldName) -> Bool, _ fields: Fields) -> Fields {
    var fields = fields
    fields.removeAll { name, _, _ in isOwn(name) }
    return fields
  }

  @Sendable private static func responseHead(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let (choice, isHead) = (input.number(below: 64), input.flag())
    let buffer = input.text
    var parser = ResponseParser()
    let whole = parser.parse(buffer, 0..<buffer.count)
    var slow = ResponseParser()
    var (end, result) = (0, ResponseParse.needMore)
    for piece in FuzzInput.pieces(of: buffer.count, by: choice) {
      guard case .needMore = result else { break }
      end += piece
      result = slow.parse(buffer, 0..<end)
    }
    if "\(result)" != "\(whole)" { breach("a response head in pieces: \(result), at once: \(whole)") }
    guard case .head(let head, _) = whole else { return }
    let framing: BodyFraming
    do { framing = try responseFraming(head, requestMethod: isHead ? .head : .get) } catch { return }
    var output: [UInt8] = []
    HeadWriter.write(head, framing: framing, connection: .keepAlive, into: &output)
    // What clients are sent is read by a strict parser without the leniency that origins get.
    var again = ResponseParser(limits: HeadLimits(maxHead: output.count + 1, maxFields: 4096))
    guard case .head(let second, output.count) = again.parse(output, 0..<output.count) else {
      breach("what is written cannot be read")
    }
    let read: BodyFraming
    do { read = try responseFraming(second, requestMethod: isHead ? .head : .get) } catch { breach("\(error)") }
    if framing != .untilClose, framing != .none, read != framing { breach("framing \(read), not \(framing)") }
  }

  @Sendable private static func chunked(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let (choice, keepsAll) = (input.number(below: 64), input.flag())
    let first = decode(input.text, by: 0, keepsAll ? .all : .digests)
    let second = decode(input.text, by: choice, keepsAll ? .all : .digests)
    if first.content != second.content { breach("content in pieces differs") }
    if first.end != second.end { breach("the end in pieces: \(second.end), at once: \(first.end)") }
    if first.trailers != second.trailers { breach("trailers in pieces differ") }
    guard first.end.hasPrefix("end") else { return }
    // What was decoded is written again, and decoded to the same.
    var output: [UInt8] = []
    ChunkedWriter.append(first.content, into: &output)
    ChunkedWriter.appendLast(trailers: first.trailers, into: &output)
    let again = decode(output, by: choice, .all)
    if again.content != first.content || again.trailers != first.trailers { breach("written again, it differs") }
  }

  private static func decode(
    _ bytes: [UInt8], by choice: Int, _ policy: TrailerPolicy
  ) -> (content: [UInt8], end: String, trailers: Fields) {
    var decoder = BodyDecoder(.chunked, trailers: policy)
    var (at, end, content) = (0, 0, [UInt8]())
    for piece in FuzzInput.pieces(of: bytes.count, by: choice) {
      end += piece
      loop: while true {
        switch decoder.next(bytes, at..<end) {
        case .needMore(let count):
          at += count
          break loop
        case .data(let range, let count):
          if range.isEmpty || count < range.count || range.upperBound > end { breach("data \(range), \(count)") }
          content += bytes[range]
          at += count
        case .end(let count): return (content, "end \(at + count)", decoder.trailers)
        case .malformed(let why): return (content, "malformed \(why)", Fields())
        }
      }
      if at > end { breach("more consumed than there was") }
    }
    return (content, "open", Fields())
  }

  @Sendable private static func proxy(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let choice = input.number(below: 64)
    let whole = ProxyHeader.parse(input.text)
    var (end, result) = (0, ProxyHeaderParse.needMore)
    for piece in FuzzInput.pieces(of: input.text.count, by: choice) where result == .needMore {
      end += piece
      result = ProxyHeader.parse(input.text[..<end])
    }
    switch (whole, result) {
    // Where the mistake is seen depends on how much has arrived.
    case (.malformed, .malformed): break
    default: if whole != result { breach("a PROXY header in pieces: \(result), at once: \(whole)") }
    }
    guard case .header(let header, let count) = whole else { return }
    if count > input.text.count || count > ProxyHeader.maxBinary { breach("a header of \(count) bytes") }
    if case .internet(let client, let server) = header.named {
      for end in [client, server] where end.bytes.count != 4 && end.bytes.count != 16 { breach("an address") }
    }
  }
}
