import CNGHTTP2

/// The callbacks by which nghttp2 calls Swift. Each one turns pointers into values and calls one method of the attached session.
///
/// Safe: nghttp2 calls back only from within `nghttp2_session_mem_recv` and `nghttp2_session_mem_send`. The session keeps itself
/// alive during both, and deletes nghttp2's session in its `deinit`. No pointer is kept beyond a call, except pointers to
/// content, which is in the buffer of the caller of ``HTTP2Session/receive(_:at:)``.
enum HTTP2Callbacks {
  /// The frames whose sending is reported to the session.
  enum Frame { case data, headers, reset, goAway }

  // MARK: Setting up

  /// Makes nghttp2's session. Traps when there is no memory, as Swift does.
  static func makeSession(_ settings: HTTP2Settings) -> OpaquePointer {
    var (session, options, callbacks): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
    nghttp2_option_new(&options)
    nghttp2_session_callbacks_new(&callbacks)
    defer {
      nghttp2_option_del(options)
      nghttp2_session_callbacks_del(callbacks)
    }
    nghttp2_option_set_no_auto_window_update(options, 1)
    nghttp2_option_set_builtin_recv_extension_type(options, UInt8(NGHTTP2_PRIORITY_UPDATE.rawValue))
    nghttp2_option_set_no_closed_streams(options, 1)
    nghttp2_option_set_max_send_header_block_length(options, 256 << 10)
    // Floods are counted by HTTP2FloodWatch, whose limits have names; the limits of nghttp2 are a second line of defence.
    nghttp2_option_set_max_outbound_ack(options, settings.floods.queuedFrames)
    nghttp2_option_set_stream_reset_rate_limit(options, 1 << 40, 1 << 40)
    nghttp2_option_set_max_continuations(options, settings.floods.continuations + 1)
    setCallbacks(callbacks)
    nghttp2_session_server_new2(&session, callbacks, nil, options)
    guard let session else { preconditionFailure("out of memory") }
    return session
  }

  static func attach(_ owner: HTTP2Session, to session: OpaquePointer) {
    nghttp2_session_set_user_data(session, Unmanaged.passUnretained(owner).toOpaque())
  }

  private static func setCallbacks(_ callbacks: OpaquePointer?) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
      guard let owner = owner(user), let frame else { return failure }
      owner.beginBlock(
        frame.pointee.hd.stream_id, isRequest: frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST)
      return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameCount, value, valueCount, _, user in
      guard let owner = owner(user) else { return failure }
      let (name, value) = (
        UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: valueCount)
      )
      return owner.takeField(name: name.span, value: value.span) ? 0 : failure
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
      guard let owner = owner(user), let frame else { return failure }
      HTTP2Callbacks.received(frame, owner)
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, user in
      guard let owner = owner(user) else { return failure }
      owner.takeContent(UnsafeRawBufferPointer(start: bytes, count: count), stream)
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, user in
      guard let owner = owner(user) else { return failure }
      owner.noteClosed(stream, code)
      return 0
    }
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, _, user in
      guard let owner = owner(user), let frame else { return failure }
      owner.noteInvalid(frame.pointee.hd.stream_id)
      return 0
    }
    setSendCallbacks(callbacks)
  }

  fileprivate static func received(_ frame: UnsafePointer<nghttp2_frame>, _ owner: HTTP2Session) {
    let header = frame.pointee.hd
    let hasFirstFlag = header.flags & 1 != 0
    switch UInt32(header.type) {
    case NGHTTP2_HEADERS.rawValue:
      let isRequest = frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
      owner.endBlock(header.stream_id, isRequest: isRequest, isEnd: hasFirstFlag)
    case NGHTTP2_DATA.rawValue: if hasFirstFlag { owner.endContent(header.stream_id) }
    case NGHTTP2_RST_STREAM.rawValue: owner.noteReset(header.stream_id)
    case NGHTTP2_SETTINGS.rawValue: if hasFirstFlag { owner.settingsState = .acknowledged }
    case NGHTTP2_PING.rawValue:
      guard hasFirstFlag else { return }
      let payload = withUnsafeBytes(of: frame.pointee.ping.opaque_data) { $0.loadUnaligned(as: UInt64.self) }
      owner.takePingAcknowledgement(payload)
    case NGHTTP2_PRIORITY_UPDATE.rawValue:
      // Safe: nghttp2's built-in handler gives frames of this type a payload of this C type.
      guard let payload = frame.pointee.ext.payload else { return }
      owner.takePriorityUpdate(payload.load(as: nghttp2_ext_priority_update.self).stream_id)
    default: break
    }
  }

  // MARK: Sending

  /// The callback by which nghttp2 gets the content of a response from the delegate.
  static var content: nghttp2_data_provider {
    nghttp2_data_provider(source: nghttp2_data_source()) { _, stream, _, limit, flags, _, user in
      guard let owner = owner(user), let flags else { return Int(failure) }
      guard let offer = owner.offer(of: stream, limit: limit) else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
      if offer.count > 0 { flags.pointee |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue }
      if offer.isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
      if offer.hasTrailers { flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue }
      return offer.count
    }
  }

  /// The callback by which nghttp2 gets the content of a ready response, which is in the slot of its stream.
  static func readyContent(_ slot: Int) -> nghttp2_data_provider {
    // The pointer is the slot plus one, so that no slot becomes the null pointer.
    let source = nghttp2_data_source(ptr: UnsafeMutableRawPointer(bitPattern: slot + 1))
    return nghttp2_data_provider(source: source) { _, _, _, limit, flags, source, user in
      guard let owner = owner(user), let flags, let slot = readySlot(source),
        let offer = owner.offerReady(slot, limit: limit)
      else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
      flags.pointee |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
      if offer.isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
      return offer.count
    }
  }

  private static func setSendCallbacks(_ callbacks: OpaquePointer?) {
    nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, header, count, source, user in
      guard let owner = owner(user), let frame else { return failure }
      let header = UnsafeBufferPointer(start: header, count: 9)
      let isThere =
        if let slot = readySlot(source) {
          owner.appendReady(header, count, slot)
        } else {
          owner.appendContent(header, count, of: frame.pointee.hd.stream_id)
        }
      guard isThere else { return CInt(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
      // nghttp2 makes frames of content one after another. This result stops it when the output is full.
      return owner.isFull ? CInt(NGHTTP2_ERR_PAUSE.rawValue) : 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
      guard let owner = owner(user), let frame else { return failure }
      HTTP2Callbacks.sent(frame, owner)
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, user in
      guard let owner = owner(user), let frame else { return failure }
      if UInt32(frame.pointee.hd.type) == NGHTTP2_HEADERS.rawValue { owner.noteUnsent(frame.pointee.hd.stream_id) }
      return 0
    }
  }

  fileprivate static func sent(_ frame: UnsafePointer<nghttp2_frame>, _ owner: HTTP2Session) {
    let header = frame.pointee.hd
    let endsStream = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    switch UInt32(header.type) {
    case NGHTTP2_DATA.rawValue: owner.noteSent(.data, header.stream_id, endsStream: endsStream, code: 0)
    case NGHTTP2_HEADERS.rawValue: owner.noteSent(.headers, header.stream_id, endsStream: endsStream, code: 0)
    case NGHTTP2_RST_STREAM.rawValue:
      owner.noteSent(.reset, header.stream_id, endsStream: false, code: frame.pointee.rst_stream.error_code)
    case NGHTTP2_GOAWAY.rawValue: owner.noteSent(.goAway, 0, endsStream: false, code: frame.pointee.goaway.error_code)
    default: break
    }
  }
}

// This and the functions below are outside the type, because a C function pointer must not capture anything.
private let failure = CInt(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)

/// The slot of a ready response; `nil` where the delegate gives the content.
private func readySlot(_ source: UnsafeMutablePointer<nghttp2_data_source>?) -> Int? {
  guard let place = source?.pointee.ptr else { return nil }
  return Int(bitPattern: place) - 1
}

private func owner(_ pointer: UnsafeMutableRawPointer?) -> HTTP2Session? {
  pointer.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
}
