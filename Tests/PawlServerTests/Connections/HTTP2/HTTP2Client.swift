import CNGHTTP2
import PawlTestKit

@testable import PawlServer

/// A client of HTTP/2 with frames made by hand, so that a test may keep to the rules or not. Reads what it is asked to
/// wait for and no more; answers SETTINGS and PING, and gives credit at once unless told otherwise.
final class HTTP2Client {
  enum Kind: UInt8 {
    case data = 0, headers, priority, rstStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
  }

  let socket: ScriptedClient
  private(set) var answers: [Int32: HTTP2Answer] = [:]
  /// The error code of the server's GOAWAY.
  private(set) var goAway: UInt32?
  private(set) var isClosed = false
  /// The server's SETTINGS, and the windows for what is sent to it.
  private(set) var settings: [UInt16: UInt32] = [:]
  private(set) var connectionWindow = 65_535
  private(set) var windows: [Int32: Int] = [:]
  private var inflater = HeaderInflater()
  private(set) var nextStream: Int32 = 1
  /// Whether credit is given back for what came.
  var givesCredit = true

  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  init(
    _ pawl: TestServer, settings: [(UInt16, UInt32)] = [], receiveBuffer: CInt? = nil,
    fragmenter: Fragmenter = .whole
  ) {
    socket = pawl.connect(receiveBuffer: receiveBuffer)
    let body = settings.flatMap { Self.bytes($0.0) + Self.bytes($0.1) }
    for piece in fragmenter.pieces(Self.preface + Self.frame(.settings, 0, 0, body)) { socket.send(piece) }
  }

  // MARK: Sending

  static func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }

  static func frame(_ kind: Kind, _ flags: UInt8, _ stream: Int32, _ body: [UInt8]) -> [UInt8] {
    bytes(UInt32(body.count)).dropFirst() + [kind.rawValue, flags] + bytes(UInt32(stream)) + body
  }

  /// Literals without indexing: nothing to keep in step.
  static func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { [0] + string($0.0) + string($0.1) }
  }

  private static func string(_ text: String) -> [UInt8] {
    var (length, bytes) = (text.utf8.count, [UInt8]())
    if length < 127 {
      bytes.append(UInt8(length))
    } else {
      bytes.append(127)
      length -= 127
      while length >= 128 {
        bytes.append(UInt8(length & 127) | 128)
        length >>= 7
      }
      bytes.append(UInt8(length))
    }
    return bytes + text.utf8
  }

  func send(_ kind: Kind, _ flags: UInt8 = 0, on stream: Int32 = 0, _ body: [UInt8] = []) {
    socket.send(Self.frame(kind, flags, stream, body))
  }

  static func requestFields(_ line: String, _ fields: [(String, String)]) -> [(String, String)] {
    let parts = line.split(separator: " ").map(String.init)
    return [(":method", parts[0]), (":scheme", "http"), (":authority", "site"), (":path", parts[1])]
      + [("x-request-id", "r")] + fields
  }

  /// A stream of its own for a request; `line` is method and target.
  @discardableResult
  func open(
    _ line: String, _ fields: [(String, String)] = [], ends: Bool = true, _ fragmenter: Fragmenter = .whole
  ) -> Int32 {
    let stream = nextStream
    skipStreams(1)
    let frame = Self.frame(.headers, ends ? 5 : 4, stream, Self.block(Self.requestFields(line, fields)))
    for piece in fragmenter.pieces(frame) { socket.send(piece) }
    return stream
  }

  /// A stream for a head of which everything is the test's.
  func openRaw(_ fields: [(String, String)], ends: Bool) -> Int32 {
    let stream = nextStream
    skipStreams(1)
    send(.headers, ends ? 5 : 4, on: stream, Self.block(fields))
    return stream
  }

  /// The test has used so many streams by hand.
  func skipStreams(_ count: Int) {
    for _ in 0..<count {
      answers[nextStream] = HTTP2Answer()
      windows[nextStream] = Int(settings[4] ?? 65_535)
      nextStream += 2
    }
  }

  /// One frame, whatever the windows say.
  func data(_ bytes: [UInt8], on stream: Int32, ends: Bool = false) {
    send(.data, ends ? 1 : 0, on: stream, bytes)
    connectionWindow -= bytes.count
    windows[stream, default: 0] -= bytes.count
  }

  /// As much content as there is, as the windows allow it. `false`: the stream or the connection ended first.
  @discardableResult
  func upload(_ bytes: [UInt8], on stream: Int32, ends: Bool = true) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let room = min(connectionWindow, windows[stream] ?? 0, 16_384)
      if room <= 0 {
        guard step(), answers[stream]?.resetCode == nil else { return false }
        continue
      }
      let end = min(bytes.count, sent + room)
      data(Array(bytes[sent..<end]), on: stream, ends: ends && end == bytes.count)
      sent = end
    }
    return true
  }

  func reset(_ stream: Int32, _ code: UInt32 = 8) { send(.rstStream, on: stream, Self.bytes(code)) }

  func credit(_ count: UInt32, on stream: Int32 = 0) { send(.windowUpdate, on: stream, Self.bytes(count)) }

  // MARK: Receiving

  /// Reads and takes in one frame; `false` when there are no more.
  func step() -> Bool {
    guard !isClosed else { return false }
    let head = socket.read(9)
    guard head.count == 9 else {
      isClosed = true
      return false
    }
    let length = head[..<3].reduce(0) { $0 << 8 | Int($1) }
    let stream = Int32(bitPattern: head[5...].reduce(0) { $0 << 8 | UInt32($1) })
    let body = socket.read(length)
    guard body.count == length, let kind = Kind(rawValue: head[3]) else { return true }
    take(kind, head[4], stream, body)
    return true
  }

  private func take(_ kind: Kind, _ flags: UInt8, _ stream: Int32, _ body: [UInt8]) {
    switch kind {
    case .data:
      answers[stream]?.content += body
      if flags & 1 != 0 { answers[stream]?.isWhole = true }
      guard givesCredit, !body.isEmpty else { return }
      credit(UInt32(body.count))
      if flags & 1 == 0 { credit(UInt32(body.count), on: stream) }
    case .headers:
      answers[stream]?.take(inflater.inflate(body), ends: flags & 1 != 0)
    case .rstStream: answers[stream]?.resetCode = number(body)
    case .settings:
      guard flags & 1 == 0 else { return }
      for start in stride(from: 0, to: body.count, by: 6) {
        settings[UInt16(body[start]) << 8 | UInt16(body[start + 1])] = number(Array(body[(start + 2)..<(start + 6)]))
      }
      send(.settings, 1)
    case .ping: if flags & 1 == 0 { send(.ping, 1, on: 0, body) }
    case .goAway: goAway = number(Array(body[4..<8]))
    case .windowUpdate:
      if stream == 0 { connectionWindow += Int(number(body)) } else { windows[stream, default: 0] += Int(number(body)) }
    case .priority, .pushPromise, .continuation: break
    }
  }

  private func number(_ bytes: [UInt8]) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

  /// Reads until that holds; `false` when the connection ended before.
  @discardableResult
  func read(until condition: () -> Bool) -> Bool {
    while !condition() { guard step() else { return condition() } }
    return true
  }

  /// Waits for the server's SETTINGS, so that its windows are known.
  func readSettings() { read { !settings.isEmpty } }

  /// The answer on this stream when it has ended, in order or not.
  func answer(_ stream: Int32) -> HTTP2Answer {
    read { answers[stream]?.isOver == true }
    return answers[stream] ?? HTTP2Answer()
  }

  func get(_ target: String = "/f", _ fields: (String, String)...) -> HTTP2Answer {
    answer(open("GET \(target)", fields))
  }

  /// Reads to the end of the connection.
  func readToEnd() -> ScriptedClient.Ending {
    while step() {}
    return socket.ending
  }
}

/// What came on one stream.
struct HTTP2Answer {
  var interim: [[(String, String)]] = []
  var fields: [(String, String)] = []
  var trailers: [(String, String)] = []
  var content: [UInt8] = []
  /// END_STREAM came.
  var isWhole = false
  var resetCode: UInt32?

  var isOver: Bool { isWhole || resetCode != nil }
  var status: Int { self[":status"].flatMap { Int($0) } ?? 0 }
  var text: String { String(decoding: content, as: UTF8.self) }
  subscript(_ name: String) -> String? { fields.first { $0.0 == name }?.1 }

  /// The head as a text, with what is random in it replaced.
  var shown: String { maskTags(fields.map { "\($0.0): \($0.1)" }.joined(separator: "\n")) }

  mutating func take(_ block: [(String, String)], ends: Bool) {
    if ends { isWhole = true }
    if status != 0 { return trailers = block }
    if let status = block.first, status.0 == ":status", status.1.hasPrefix("1") { return interim.append(block) }
    fields = block
  }
}

/// HPACK as nghttp2 reads it.
struct HeaderInflater: ~Copyable {
  private var inflater: OpaquePointer?

  init() { nghttp2_hd_inflate_new(&inflater) }

  deinit { nghttp2_hd_inflate_del(inflater) }

  mutating func inflate(_ block: [UInt8]) -> [(String, String)] {
    var (fields, start) = ([(String, String)](), 0)
    while true {
      var (field, flags) = (nghttp2_nv(), CInt(0))
      let used = block[start...].withUnsafeBufferPointer {
        nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress, $0.count, 1)
      }
      guard used >= 0 else { return fields }
      start += used
      if flags & CInt(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
        fields.append((text(field.name, field.namelen), text(field.value, field.valuelen)))
      }
      if flags & CInt(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
        nghttp2_hd_inflate_end_headers(inflater)
        return fields
      }
    }
  }

  private func text(_ pointer: UnsafeMutablePointer<UInt8>?, _ count: Int) -> String {
    String(decoding: UnsafeBufferPointer(start: pointer, count: count), as: UTF8.self)
  }
}
