import CNGHTTP2
import PawlHTTP

/// Handles what nghttp2 found in the received bytes. Called from within `nghttp2_session_mem_recv`: events are only recorded
/// here, and delivered later.
extension HTTP2Session {
  func slot(of stream: HTTP2StreamID) -> Int? {
    // The pointer is the slot plus one, so that no slot becomes the null pointer.
    nghttp2_session_get_stream_user_data(raw, stream).map { Int(bitPattern: $0) - 1 }
  }

  /// Begins a header block.
  func beginBlock(_ stream: HTTP2StreamID, isRequest: Bool) {
    reader.begin(trailers: !isRequest)
    guard isRequest else { return }
    let slot = streams.open(stream, window: settings.streamWindow)
    nghttp2_session_set_stream_user_data(raw, stream, UnsafeMutableRawPointer(bitPattern: slot + 1))
  }

  /// Takes one field; `false`: the block is a flood.
  func takeField(name: Span<UInt8>, value: Span<UInt8>) -> Bool {
    guard reader.take(name: name, value: value) == .flood else { return true }
    finish(.headerFlood, .enhanceYourCalm)
    return false
  }

  func endBlock(_ stream: HTTP2StreamID, isRequest: Bool, isEnd: Bool) {
    guard let slot = slot(of: stream) else { return }
    if isEnd { streams[slot].hasEnded = true }
    guard isRequest else { return endTrailers(slot) }
    prioritise(stream)
    if isEnd, reader.isPlain { return keepPlainHead(slot) }
    do throws(RequestRefusal) {
      streams[slot].telling = .request(try reader.request(isEnd: isEnd))
      events.append(.began(slot))
      if isEnd { events.append(.ended(slot)) }
    } catch {
      streams[slot].telling = .refusal(error, reader.refused)
      events.append(.refused(slot))
    }
  }

  private func endTrailers(_ slot: Int) {
    guard let trailers = reader.trailers() else {
      nghttp2_submit_rst_stream(raw, 0, streams[slot].id, HTTP2ErrorCode.enhanceYourCalm.rawValue)
      return
    }
    streams[slot].trailers = trailers
    events.append(.ended(slot))
  }

  /// Gives a stream without `priority` the default of pawl: such streams take turns, frame by frame, which RFC 9218 §10 leaves to
  /// the server. nghttp2 then applies a valid `priority` field of the request; a malformed one is ignored (§4).
  private func prioritise(_ stream: HTTP2StreamID) {
    if let index = foretold.firstIndex(of: stream) {
      foretold.remove(at: index)
      return
    }
    var priority = nghttp2_extpri(urgency: 3, inc: 1)
    nghttp2_session_change_extpri_stream_priority(raw, stream, &priority, 0)
  }

  /// Notes PRIORITY_UPDATE for a stream that has not begun. Bounded: updates beyond `maxStreams` are not noted.
  func takePriorityUpdate(_ stream: HTTP2StreamID) {
    guard slot(of: stream) == nil, stream > nghttp2_session_get_last_proc_stream_id(raw) else { return }
    guard foretold.count < settings.maxStreams, !foretold.contains(stream) else { return }
    foretold.append(stream)
  }

  /// Takes content, which is in the bytes that `receive` was given.
  func takeContent(_ bytes: UnsafeRawBufferPointer, _ stream: HTTP2StreamID) {
    guard let slot = slot(of: stream) else { return }
    guard !streams[slot].isRefused else { return returnCredit(slot) }
    // Content beyond the window: nghttp2 is resetting the stream.
    guard streams[slot].window.held + bytes.count <= streams[slot].window.size else { return }
    streams[slot].window.arrive(bytes.count)
    window.arrive(bytes.count)
    events.append(.content(slot, bytes))
  }

  /// The event at that index, joined with following events of content of the same stream; and the number of events joined.
  /// - Parameter movable: whether content may be moved within its buffer.
  func gathered(at index: Int, movable: Bool) -> (event: HTTP2Event, count: Int) {
    guard movable, case .content(let slot, let first) = events[index], let start = first.baseAddress else {
      return (events[index], 1)
    }
    var (end, last) = (first.count, index)
    while last + 1 < events.count, case .content(slot, let more) = events[last + 1], let from = more.baseAddress {
      // Safe: the pieces are in this order in bytes that may be moved, with nothing between them that is still needed.
      UnsafeMutableRawPointer(mutating: start + end).copyMemory(from: from, byteCount: more.count)
      (end, last) = (end + more.count, last + 1)
    }
    return (.content(slot, UnsafeRawBufferPointer(start: start, count: end)), last - index + 1)
  }

  /// Ends the content: a complete DATA frame had END_STREAM.
  func endContent(_ stream: HTTP2StreamID) {
    guard let slot = slot(of: stream) else { return }
    streams[slot].hasEnded = true
    events.append(.ended(slot))
  }

  /// Whether the end of the request has arrived, even if its event was not delivered yet.
  package func hasEnded(_ stream: HTTP2StreamID) -> Bool { slot(of: stream).map { streams[$0].hasEnded } ?? false }

  /// Notes a frame that broke a rule of its stream. The stream is reset with the next output; if its request was not delivered
  /// yet, it never will be.
  func noteInvalid(_ stream: HTTP2StreamID) {
    if let slot = slot(of: stream) { streams[slot].noteInvalid() }
  }

  /// Decides whether to deliver a request, now that all frames that came with it are known.
  func isWorthTelling(_ request: HTTP2Request, _ slot: Int) -> Bool {
    let stream = streams[slot]
    guard stream.mayBeTold else {
      // The client itself has reset the stream, after content that may still count.
      return stream.wasGivenUp && stream.window.held > 0
        && listener?.session(self, keepsContentOf: request) == true
    }
    // A request is not delivered if its content differs from the announced length: nghttp2 cut off the excess, or the stream
    // ended too early.
    if case .length(let count) = request.head.framing, watch.content(of: stream.id) > count { return false }
    return nghttp2_session_get_stream_remote_close(raw, stream.id) != 1 || stream.hasEnded
  }

  func noteReset(_ stream: HTTP2StreamID) {
    if let slot = slot(of: stream) { streams[slot].noteReset() }
  }

  /// Notes that the stream is closed; called from within `receive` or `produce`. The content that the stream held is released
  /// from the window of the connection.
  func noteClosed(_ stream: HTTP2StreamID, _ code: UInt32) {
    guard let slot = slot(of: stream), !streams[slot].isClosed else { return }
    streams[slot].isClosed = true
    if streams[slot].window.held > 0 {
      window.release(streams[slot].window.held)
      // Other streams may wait for this credit, and no event of the client would release it later.
      returnConnectionCredit()
    }
    events.append(.closed(slot, streams[slot].wasReset ? code : nil))
  }
}

/// Flow control of received content: credit as the delegate consumes bytes, and windows that grow with the rate.
extension HTTP2Session {
  /// The PINGs of pawl, by their payload.
  enum Ping: UInt64 {
    case roundTrip = 0x7061_776c_2d72_7474
    case drain = 0x7061_776c_2d65_6e64
  }

  func submitSettings() {
    let list = settings.head.maxHead + 28 * settings.head.maxFields
    var entries = [
      entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.maxStreams),
      entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.streamWindow),
      // This setting counts 32 additional bytes for each field, and `maxHead` 4.
      entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, list),
      entry(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1),
      entry(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
    ]
    nghttp2_submit_settings(raw, 0, &entries, entries.count)
    nghttp2_session_set_local_window_size(raw, 0, 0, Int32(clamping: window.size))
  }

  private func entry(_ id: nghttp2_settings_id, _ value: Int) -> nghttp2_settings_entry {
    nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: UInt32(clamping: value))
  }

  func ping(_ ping: Ping) {
    withUnsafeBytes(of: ping.rawValue) {
      _ = nghttp2_submit_ping(raw, 0, $0.bindMemory(to: UInt8.self).baseAddress)
    }
    watch.sentPing()
  }

  /// Releases bytes of the request's content, and gives the client credit for the same number of bytes.
  package func consumed(_ count: Int, of stream: HTTP2StreamID) {
    guard let slot = slot(of: stream), !streams[slot].isClosed else { return }
    let held = streams[slot].window.held
    streams[slot].window.release(count)
    window.release(held - streams[slot].window.held)
    returnCredit(slot)
    returnConnectionCredit()
  }

  /// Gives back credit; called after each `receive`.
  func returnCredit() {
    if window.makeRoom(upTo: settings.maxWindow) {
      nghttp2_session_set_local_window_size(raw, 0, 0, Int32(clamping: window.size))
    }
    returnConnectionCredit()
    guard window.arrived > 0, settingsState == .acknowledged, roundTrip.begins(at: now) else { return }
    window.restart()
    for slot in streams.indices { streams[slot].window.restart() }
    ping(.roundTrip)
  }

  private func returnConnectionCredit() {
    let credit = window.credit(spent: Int(nghttp2_session_get_effective_recv_data_length(raw)))
    if credit > 0 { nghttp2_submit_window_update(raw, 0, 0, Int32(clamping: credit)) }
  }

  private func returnCredit(_ slot: Int) {
    guard !streams[slot].hasEnded, !streams[slot].isResetByOwn else { return }
    let id = streams[slot].id
    let spent = Int(nghttp2_session_get_stream_effective_recv_data_length(raw, id))
    let credit = streams[slot].window.credit(spent: spent)
    if credit > 0 { nghttp2_submit_window_update(raw, 0, id, Int32(clamping: credit)) }
  }

  func takePingAcknowledgement(_ payload: UInt64) {
    switch Ping(rawValue: payload) {
    case .drain: endDrain()
    case .roundTrip:
      guard roundTrip.ends(at: now) else { return }
      roundTrip.rest(grew: growWindows())
    case nil: break
    }
  }

  /// Grows the window of the connection, then the windows of streams, each at most to three quarters of the connection's.
  private func growWindows() -> Bool {
    var grew = window.grow(upTo: settings.maxWindow)
    if grew { nghttp2_session_set_local_window_size(raw, 0, 0, Int32(clamping: window.size)) }
    let limit = max(settings.streamWindow, window.size / 4 * 3)
    for slot in streams.indices where streams.receives(slot) {
      guard streams[slot].window.grow(upTo: limit) else { continue }
      nghttp2_session_set_local_window_size(raw, 0, streams[slot].id, Int32(clamping: streams[slot].window.size))
      grew = true
    }
    return grew
  }
}
