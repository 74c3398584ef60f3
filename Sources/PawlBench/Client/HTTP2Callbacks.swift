import CNGHTTP2

/// The callbacks from C into Swift. Each turns pointers into values and calls one method of the attached connection.
///
/// Safe: nghttp2 calls back only during `nghttp2_session_mem_recv` and `nghttp2_session_mem_send`, and the connection keeps
/// itself alive during these calls. The connection deletes nghttp2's session when it closes. No pointer is kept beyond its
/// call.
enum HTTP2Callbacks {
  /// The receive windows of one response and of a connection, in bytes.
  static let streamWindow: Int32 = 4 << 20, connectionWindow: Int32 = 64 << 20

  /// Makes a client session. Traps if there is no memory, as Swift does.
  static func makeSession(_ owner: HTTP2Connection) -> OpaquePointer {
    var (session, callbacks): (OpaquePointer?, OpaquePointer?)
    nghttp2_session_callbacks_new(&callbacks)
    defer { nghttp2_session_callbacks_del(callbacks) }
    set(callbacks)
    nghttp2_session_client_new(&session, callbacks, Unmanaged.passUnretained(owner).toOpaque())
    guard let session else { preconditionFailure("out of memory") }
    let settings = [
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(streamWindow)),
    ]
    nghttp2_submit_settings(session, 0, settings, settings.count)
    nghttp2_session_set_local_window_size(session, 0, 0, connectionWindow)
    return session
  }

  private static func set(_ callbacks: OpaquePointer?) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, _, user in
      guard let owner = owner(user) else { return failure }
      owner.beginHead()
      return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameCount, value, valueCount, _, user in
      guard let owner = owner(user) else { return failure }
      owner.takeField(
        UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: valueCount))
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
      guard let owner = owner(user), let header = frame?.pointee.hd else { return failure }
      let endsStream = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
      switch UInt32(header.type) {
      case NGHTTP2_HEADERS.rawValue: owner.endHead(header.stream_id, endsStream: endsStream)
      case NGHTTP2_DATA.rawValue: if endsStream { owner.endContent(header.stream_id) }
      case NGHTTP2_GOAWAY.rawValue: owner.noteGoAway()
      default: break
      }
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, user in
      guard let owner = owner(user) else { return failure }
      owner.takeContent(UnsafeBufferPointer(start: bytes, count: count), stream)
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, user in
      guard let owner = owner(user), let header = frame?.pointee.hd else { return failure }
      if UInt32(header.type) == NGHTTP2_HEADERS.rawValue { owner.noteUnsent(header.stream_id) }
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, user in
      guard let owner = owner(user) else { return failure }
      owner.noteClosed(stream, code)
      return 0
    }
  }

  /// The source from which nghttp2 takes the content of a request. The source calls ``HTTP2Connection/copyContent(_:to:)``.
  static var content: nghttp2_data_provider {
    nghttp2_data_provider(source: nghttp2_data_source()) { _, stream, target, limit, flags, _, user in
      guard let owner = owner(user), let flags else { return Int(failure) }
      guard let step = owner.copyContent(stream, to: UnsafeMutableRawBufferPointer(start: target, count: limit)) else {
        return Int(NGHTTP2_ERR_DEFERRED.rawValue)
      }
      if step.isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
      return step.count
    }
  }
}

// These are outside of the type, because a C function pointer cannot capture anything.
private let failure = CInt(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)

private func owner(_ pointer: UnsafeMutableRawPointer?) -> HTTP2Connection? {
  pointer.map { Unmanaged<HTTP2Connection>.fromOpaque($0).takeUnretainedValue() }
}
