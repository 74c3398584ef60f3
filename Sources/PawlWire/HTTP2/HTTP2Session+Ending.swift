import CNGHTTP2

/// The end of a session: regular, for a flood or a protocol error, or because SETTINGS are not acknowledged.
extension HTTP2Session {
  var progress: Progress {
    if ending == nil, nghttp2_session_want_read(raw) == 0, nghttp2_session_want_write(raw) == 0 { ending = .goAway }
    return ending.map { .ends($0) } ?? .goesOn
  }

  /// Drains the session: GOAWAY lets running streams end and refuses new ones (RFC 9113 §6.8). The first GOAWAY is an
  /// announcement; the final GOAWAY follows when the client must have seen the first.
  package func drain() {
    guard drainage == nil, ending == nil else { return }
    drainage = .announced(since: now)
    nghttp2_submit_shutdown_notice(raw)
    ping(.drain)
  }

  /// Sends the final GOAWAY: the client has seen the announcement, or a second has passed.
  func endDrain() {
    guard case .announced = drainage, ending == nil else { return }
    drainage = .final
    nghttp2_submit_goaway(raw, 0, nghttp2_session_get_last_proc_stream_id(raw), 0, nil, 0)
  }

  /// Ends the session with a GOAWAY after the frames produced so far; frames that wait are dropped.
  package func end(_ code: HTTP2ErrorCode) { finish(.goAway, code) }

  /// Checks timeouts: SETTINGS that are not acknowledged, and a drain without response. To be called about once a second.
  package func check(at now: Int64) -> Progress {
    if case .announced(let since) = drainage, now - since >= 1_000_000_000 { endDrain() }
    if case .sent(let since) = settingsState, now - since >= settings.settingsTimeout {
      finish(.settingsTimeout, .settingsTimeout)
    }
    return progress
  }

  /// Ends the session: nothing more is read, and the delegate gets no more events. `code`: the error code of the GOAWAY; `nil`
  /// when a GOAWAY was sent already.
  func finish(_ reason: EndReason, _ code: HTTP2ErrorCode?) {
    guard ending == nil else { return }
    (ending, lastWord) = (reason, code)
    if !isTelling {
      events.removeAll()
      forgetPlainHeads()
    }
  }

  /// Ends the session after an error for which nghttp2 sends no GOAWAY.
  func finishAfter(_ error: CInt) {
    switch error {
    case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue: finish(.continuationFlood, .enhanceYourCalm)
    case NGHTTP2_ERR_FLOODED.rawValue: finish(.queueFlood, .enhanceYourCalm)
    default: finish(.protocolError, .protocolError)
    }
  }

  /// Writes the GOAWAY without nghttp2, which must not be called after some errors.
  func sayLastWord() {
    guard let code = lastWord else { return }
    lastWord = nil
    output.append(contentsOf: [0, 0, 8, 7, 0, 0, 0, 0, 0])
    for word in [UInt32(bitPattern: nghttp2_session_get_last_proc_stream_id(raw)), code.rawValue] {
      for shift in [24, 16, 8, 0] as [UInt32] { output.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
  }
}
