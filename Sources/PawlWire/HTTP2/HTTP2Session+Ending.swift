import CNGHTTP2

/// How the session ends: in order, for a flood or a breach of the protocol, or because settings go unanswered.
extension HTTP2Session {
  var progress: Progress {
    if ending == nil, nghttp2_session_want_read(raw) == 0, nghttp2_session_want_write(raw) == 0 { ending = .goAway }
    return ending.map { .ends($0) } ?? .goesOn
  }

  /// GOAWAY that lets running streams end and refuses new ones (RFC 9113 §6.8): first an announcement, and when the
  /// client must have seen it, the final word.
  package func drain() {
    guard drainage == nil, ending == nil else { return }
    drainage = .announced(since: now)
    nghttp2_submit_shutdown_notice(raw)
    ping(.drain)
  }

  /// The client has seen the announcement.
  func endDrain() {
    guard case .announced = drainage, ending == nil else { return }
    drainage = .final
    nghttp2_submit_goaway(raw, 0, nghttp2_session_get_last_proc_stream_id(raw), 0, nil, 0)
  }

  /// GOAWAY at once; the connection ends with what has been produced.
  package func end(_ code: HTTP2ErrorCode) { finish(.goAway, code) }

  /// To be called about once a second: settings that nobody acknowledges, a drain that the client does not answer.
  package func check(at now: Int64) -> Progress {
    if case .announced(let since) = drainage, now - since >= 1_000_000_000 { endDrain() }
    if case .sent(let since) = settingsState, now - since >= settings.settingsTimeout {
      finish(.settingsTimeout, .settingsTimeout)
    }
    return progress
  }

  /// Nothing more is read or told. `code`: of the GOAWAY; `nil` when one has gone.
  func finish(_ reason: EndReason, _ code: HTTP2ErrorCode?) {
    guard ending == nil else { return }
    (ending, lastWord) = (reason, code)
    if !isTelling {
      events.removeAll()
      forgetPlainHeads()
    }
  }

  /// An error that nghttp2 does not answer by itself.
  func finishAfter(_ error: CInt) {
    switch error {
    case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue: finish(.continuationFlood, .enhanceYourCalm)
    case NGHTTP2_ERR_FLOODED.rawValue: finish(.queueFlood, .enhanceYourCalm)
    default: finish(.protocolError, .protocolError)
    }
  }

  /// By hand: after some errors nghttp2 is not to be asked any more.
  func sayLastWord() {
    guard let code = lastWord else { return }
    lastWord = nil
    output.append(contentsOf: [0, 0, 8, 7, 0, 0, 0, 0, 0])
    for word in [UInt32(bitPattern: nghttp2_session_get_last_proc_stream_id(raw)), code.rawValue] {
      for shift in [24, 16, 8, 0] as [UInt32] { output.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
  }
}
