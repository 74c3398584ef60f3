/// One HTTP/2 frame, made or taken apart by hand: for what no library would send.
struct HTTP2Frame: Equatable, CustomStringConvertible {
  enum Kind {
    static let data: UInt8 = 0, headers: UInt8 = 1, priority: UInt8 = 2, reset: UInt8 = 3, settings: UInt8 = 4
    static let ping: UInt8 = 6, goAway: UInt8 = 7, windowUpdate: UInt8 = 8, continuation: UInt8 = 9
    static let priorityUpdate: UInt8 = 16
  }
  enum Flag {
    static let endStream: UInt8 = 1, acknowledgement: UInt8 = 1, endHeaders: UInt8 = 4, padded: UInt8 = 8
  }

  var kind: UInt8
  var flags: UInt8 = 0
  var stream: Int32 = 0
  var payload: [UInt8] = []

  var bytes: [UInt8] {
    let count = UInt32(payload.count)
    return [
      UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
    ]
      + [kind, flags] + Self.word(UInt32(bitPattern: stream)) + payload
  }

  static func word(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
  }

  /// The word at that offset of the payload.
  func word(at offset: Int = 0) -> UInt32 { payload.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

  /// Kind, stream and, where one word says it all, that word: `RST 1 8`.
  var description: String {
    switch kind {
    case Kind.data: "DATA \(stream) \(payload.count)\(flags & 1 != 0 ? " end" : "")"
    case Kind.headers: "HEADERS \(stream)\(flags & 1 != 0 ? " end" : "")"
    case Kind.reset: "RST \(stream) \(word())"
    case Kind.settings: flags & 1 != 0 ? "SETTINGS ack" : "SETTINGS"
    case Kind.ping: flags & 1 != 0 ? "PING ack" : "PING"
    case Kind.goAway: "GOAWAY \(word()) \(word(at: 4))"
    case Kind.windowUpdate: "WINDOW \(stream) \(word())"
    default: "\(kind) \(stream)"
    }
  }

  /// What a server sent: frames, all of them whole.
  static func split(_ bytes: [UInt8]) -> [HTTP2Frame] {
    var frames: [HTTP2Frame] = []
    var at = 0
    while at + 9 <= bytes.count {
      let count = bytes[at..<at + 3].reduce(0) { $0 << 8 | Int($1) }
      let stream = bytes[at + 5..<at + 9].reduce(0) { $0 << 8 | UInt32($1) }
      let payload = Array(bytes[at + 9..<at + 9 + count])
      frames.append(
        HTTP2Frame(kind: bytes[at + 3], flags: bytes[at + 4], stream: Int32(bitPattern: stream), payload: payload))
      at += 9 + count
    }
    return frames
  }

  // MARK: Frames of a client

  static func settings(_ entries: [(UInt16, UInt32)] = []) -> HTTP2Frame {
    let payload = entries.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xff)] + word($0.1) }
    return HTTP2Frame(kind: Kind.settings, payload: payload)
  }
  static let settingsAcknowledgement = HTTP2Frame(kind: Kind.settings, flags: 1)
  static func ping(_ flags: UInt8 = 0, _ payload: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]) -> HTTP2Frame {
    HTTP2Frame(kind: Kind.ping, flags: flags, payload: payload)
  }
  static func reset(_ stream: Int32, _ code: UInt32 = 8) -> HTTP2Frame {
    HTTP2Frame(kind: Kind.reset, stream: stream, payload: word(code))
  }
  static func window(_ stream: Int32, _ count: UInt32) -> HTTP2Frame {
    HTTP2Frame(kind: Kind.windowUpdate, stream: stream, payload: word(count))
  }
  static func data(_ stream: Int32, _ payload: [UInt8], end: Bool = false) -> HTTP2Frame {
    HTTP2Frame(kind: Kind.data, flags: end ? 1 : 0, stream: stream, payload: payload)
  }
  static func priorityUpdate(_ stream: Int32, _ value: String) -> HTTP2Frame {
    HTTP2Frame(kind: Kind.priorityUpdate, payload: word(UInt32(stream)) + Array(value.utf8))
  }
  static func headers(
    _ stream: Int32, _ fields: [(String, String)], end: Bool = true, endHeaders: Bool = true
  ) -> HTTP2Frame {
    HTTP2Frame(
      kind: Kind.headers, flags: (end ? 1 : 0) | (endHeaders ? 4 : 0), stream: stream, payload: block(fields))
  }
  static func continuation(_ stream: Int32, _ fields: [(String, String)], endHeaders: Bool) -> HTTP2Frame {
    HTTP2Frame(kind: Kind.continuation, flags: endHeaders ? 4 : 0, stream: stream, payload: block(fields))
  }
  static func get(_ stream: Int32, _ path: String = "/", more: [(String, String)] = [], end: Bool = true) -> HTTP2Frame
  {
    headers(stream, request("GET", path) + more, end: end)
  }
  static func request(_ method: String, _ path: String) -> [(String, String)] {
    [(":method", method), (":scheme", "http"), (":path", path), (":authority", "a")]
  }

  /// HPACK: literal fields without indexing and without Huffman coding (RFC 7541 §6.2.2).
  static func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { [0] + text($0.0) + text($0.1) }
  }

  private static func text(_ text: String) -> [UInt8] { integer(text.unicodeScalars.count, 7) + latin(text) }

  static func integer(_ value: Int, _ bits: Int) -> [UInt8] {
    let most = 1 << bits - 1
    guard value >= most else { return [UInt8(value)] }
    var (bytes, rest) = ([UInt8(most)], value - most)
    while rest >= 128 {
      bytes.append(UInt8(rest & 127 | 128))
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }
}
