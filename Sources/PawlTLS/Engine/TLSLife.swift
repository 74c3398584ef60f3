import CLinux

/// The receiving side of the socket below a TLS connection.
enum TLSSocket: Hashable {
  /// More bytes may be there.
  case open
  /// The last read returned less than requested: another read before the socket is readable would be useless.
  case drained
  /// The peer has sent its FIN.
  case ended
  case failed(CInt)

  /// Notes that reading begins again. An end or a failure stays.
  mutating func beganReceiving() { if self == .drained { self = .open } }

  /// Notes how many of the requested bytes came.
  mutating func received(_ count: Int, of wanted: Int) { self = count < wanted ? .drained : .open }

  /// The `errno` when the connection failed below TLS; a FIN is a failure when `close_notify` is missing (RFC 8446 §6.1).
  var failure: CInt? {
    switch self {
    case .open, .drained: nil
    case .ended: ECONNRESET
    case .failed(let code): code
    }
  }
}

/// The reading state of a TLS connection.
enum TLSReading: Hashable {
  /// All received content was read, as far as is known.
  case idle
  /// OpenSSL may hold more content, because the caller's buffer was full.
  case holding
  /// Reading has ended; the caller has not been told yet.
  case ended(TLSEngine.Step)
  case told(TLSEngine.Step)

  var isOver: Bool {
    switch self {
    case .idle, .holding: false
    case .ended, .told: true
    }
  }

  mutating func noteHolding(_ isHolding: Bool) { if !isOver { self = isHolding ? .holding : .idle } }

  /// Whether the connection broke, so that no `close_notify` is sent.
  var isBroken: Bool {
    switch self {
    case .ended(.failed), .told(.failed): true
    case .idle, .holding, .ended, .told: false
    }
  }

  /// Notes how reading ended. The first end that was noted stays.
  mutating func ended(_ step: TLSEngine.Step) { if !isOver { self = .ended(step) } }

  /// Returns how reading ended, and notes that the caller has been told; `nil` when it has not ended.
  mutating func tell() -> TLSEngine.Step? {
    switch self {
    case .idle, .holding: return nil
    case .ended(let step), .told(let step):
      self = .told(step)
      return step
    }
  }
}

/// The writing state of a TLS connection.
enum TLSWriting: UInt8, Hashable {
  case open
  /// Kernel TLS only: the socket was full when `close_notify` was to be sent.
  case owing
  /// `close_notify` or a fatal alert was sent last.
  case ended

  /// Ends writing; `false` when it had ended before.
  mutating func end() -> Bool {
    guard self == .open else { return false }
    self = .ended
    return true
  }

  /// Notes an attempt to send `close_notify`; `false` when writing has not ended, which is impossible.
  mutating func noteCloseNotify(isOwed: Bool) -> Bool {
    guard self != .open else { return false }
    self = isOwed ? .owing : .ended
    return true
  }
}
