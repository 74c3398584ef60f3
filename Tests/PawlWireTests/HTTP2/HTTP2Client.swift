import CNGHTTP2
import PawlWire

/// The client side of a connection, by nghttp2: whole exchanges as a real client sees them.
final class HTTP2Client {
  struct Answer: Equatable {
    /// Heads that came before the last, as `103|name: value`.
    var interim: [String] = []
    var head = ""
    var content: [UInt8] = []
    var trailers = ""
    /// How the stream closed; `nil` while it is open.
    var code: UInt32?
  }
  private final class Upload {
    var bytes: [UInt8]
    var isOpen: Bool
    var trailers: [(String, String)]
    init(_ bytes: [UInt8], isOpen: Bool, trailers: [(String, String)]) {
      (self.bytes, self.isOpen, self.trailers) = (bytes, isOpen, trailers)
    }
  }

  private var raw: OpaquePointer?
  private(set) var answers: [Int32: Answer] = [:]
  private(set) var goAways: [(last: Int32, code: UInt32)] = []
  /// Streams in the order their DATA frames came.
  private(set) var order: [Int32] = []
  private var block = ""
  private var uploads: [Int32: Upload] = [:]

  init(window: UInt32 = 1 << 30) {
    var callbacks: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    Self.set(callbacks)
    var made: OpaquePointer?
    nghttp2_session_client_new(&made, callbacks, Unmanaged.passUnretained(self).toOpaque())
    nghttp2_session_callbacks_del(callbacks)
    raw = made
    var entries = [
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: window)
    ]
    nghttp2_submit_settings(raw, 0, &entries, 1)
    nghttp2_session_set_local_window_size(raw, 0, 0, Int32(window))
  }

  deinit { nghttp2_session_del(raw) }

  private static func owner(_ pointer: UnsafeMutableRawPointer?) -> HTTP2Client {
    Unmanaged<HTTP2Client>.fromOpaque(pointer!).takeUnretainedValue()
  }

  private static func set(_ callbacks: OpaquePointer?) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, _, user in
      HTTP2Client.owner(user).block = ""
      return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameCount, value, valueCount, _, user in
      let owner = HTTP2Client.owner(user)
      let name = String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self)
      let value = String(decoding: UnsafeBufferPointer(start: value, count: valueCount), as: UTF8.self)
      owner.block += name == ":status" ? value : (owner.block.isEmpty ? "" : "|") + "\(name): \(value)"
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
      HTTP2Client.owner(user).received(frame!.pointee)
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, user in
      let owner = HTTP2Client.owner(user)
      owner.order.append(stream)
      owner.answers[stream, default: Answer()].content += UnsafeBufferPointer(start: bytes, count: count)
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, user in
      HTTP2Client.owner(user).answers[stream, default: Answer()].code = code
      return 0
    }
  }

  private func received(_ frame: nghttp2_frame) {
    switch UInt32(frame.hd.type) {
    case NGHTTP2_HEADERS.rawValue:
      var answer = answers[frame.hd.stream_id] ?? Answer()
      if !block.isEmpty, block.first == "1" {
        answer.interim.append(block)
      } else if answer.head.isEmpty {
        answer.head = block
      } else {
        answer.trailers = block
      }
      answers[frame.hd.stream_id] = answer
    case NGHTTP2_GOAWAY.rawValue: goAways.append((frame.goaway.last_stream_id, frame.goaway.error_code))
    default: break
    }
  }

  // MARK: Requests

  /// - Parameter isOpen: more content follows by ``send(_:_:end:)``.
  @discardableResult func request(
    _ method: String, _ path: String = "/", _ fields: [(String, String)] = [], content: [UInt8]? = nil,
    isOpen: Bool = false, trailers: [(String, String)] = []
  ) -> Int32 {
    let all = HTTP2Frame.request(method, path) + fields
    var provider = nghttp2_data_provider(source: nghttp2_data_source()) {
      session, stream, output, limit, flags, _, user in
      HTTP2Client.owner(user).supply(stream, output!, limit, flags!)
    }
    let stream = withLines(all) { lines in
      content == nil && !isOpen
        ? nghttp2_submit_request(raw, nil, lines, all.count, nil, nil)
        : nghttp2_submit_request(raw, nil, lines, all.count, &provider, nil)
    }
    uploads[stream] = Upload(content ?? [], isOpen: isOpen, trailers: trailers)
    answers[stream] = Answer()
    return stream
  }

  func send(_ stream: Int32, _ bytes: [UInt8], end: Bool = false) {
    uploads[stream]?.bytes += bytes
    uploads[stream]?.isOpen = !end
    nghttp2_session_resume_data(raw, stream)
  }

  func reset(_ stream: Int32, _ code: UInt32 = 8) { nghttp2_submit_rst_stream(raw, 0, stream, code) }

  private func supply(
    _ stream: Int32, _ output: UnsafeMutablePointer<UInt8>, _ limit: Int, _ flags: UnsafeMutablePointer<UInt32>
  ) -> Int {
    guard let upload = uploads[stream] else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
    let count = min(limit, upload.bytes.count)
    if count == 0, upload.isOpen { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
    for at in 0..<count { output[at] = upload.bytes[at] }
    upload.bytes.removeFirst(count)
    if upload.bytes.isEmpty, !upload.isOpen {
      flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
      if !upload.trailers.isEmpty {
        flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
        _ = withLines(upload.trailers) { nghttp2_submit_trailer(raw, stream, $0, upload.trailers.count) }
      }
    }
    return count
  }

  private func withLines(_ fields: [(String, String)], _ body: (UnsafePointer<nghttp2_nv>) -> Int32) -> Int32 {
    let texts = fields.map { (Array($0.0.utf8), Array($0.1.utf8)) }
    var lines: [nghttp2_nv] = []
    let storage = texts.flatMap { $0.0 + $0.1 }
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, storage.count))
    defer { copy.deallocate() }
    _ = copy.initialize(from: storage)
    var at = copy.baseAddress!
    for (name, value) in texts {
      lines.append(
        nghttp2_nv(name: at, value: at + name.count, namelen: name.count, valuelen: value.count, flags: 0))
      at += name.count + value.count
    }
    return lines.withUnsafeBufferPointer { body($0.baseAddress!) }
  }

  // MARK: Bytes

  func receive(_ bytes: [UInt8]) {
    bytes.withUnsafeBufferPointer { _ = nghttp2_session_mem_recv(raw, $0.baseAddress, $0.count) }
  }

  func produce() -> [UInt8] {
    var output: [UInt8] = []
    while true {
      var frame: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(raw, &frame)
      guard count > 0 else { return output }
      output += UnsafeBufferPointer(start: frame, count: count)
    }
  }

  /// Moves bytes both ways until nothing moves; each way in pieces of `piece` bytes.
  func talk(to server: HTTP2Serving, piece: Int = .max) {
    while true {
      let up = produce()
      for part in up.pieces(piece) { server.receive(part) }
      let down = server.produce(64 << 10)
      for part in down.pieces(piece) { receive(part) }
      if up.isEmpty, down.isEmpty { return }
    }
  }
}

extension [UInt8] {
  func pieces(_ size: Int) -> [[UInt8]] {
    if isEmpty { return [] }
    return stride(from: 0, to: count, by: Swift.min(size, count)).map { start in
      Array(self[start..<Swift.min(start + Swift.min(size, count), count)])
    }
  }
}
