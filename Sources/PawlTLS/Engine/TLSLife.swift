import CLinux

/// What the socket below a TLS connection has told.
enum TLSSocket: Hashable {
  /// There may be more.
  case open
  /// The last receive found less than it asked for: asking again before the socket is readable is a wasted call.
  case drained
  /// The peer's FIN.
  case ended
  case failed(CInt)

  /// It is asked again. What has ended stays so.
  mutating func beganReceiving() { if self == .drained { self = .open } }

  /// So many bytes came of those asked for.
  mutating func received(_ count: Int, of wanted: Int) { self = count < wanted ? .drained : .open }

  /// Where the connection failed below TLS, and how; a FIN is a failure where more had to come (RFC 8446 6.1).
  var failure: CInt? {
    switch self {
    case .open, .drained: nil
    case .ended: ECONNRESET
    case .failed(let code): code
    }
  }
}

/// How far the reader of a TLS connection has come.
enum TLSReading: Hashable {
  /// All that was received is read, as far as is known.
  case idle
  /// Records may be left in OpenSSL's buffer because the caller's was full.
  case holding
  /// For good, and the reader does not know it yet.
  case ended(TLSEngine.Step)
  case told(TLSEngine.Step)

  var isOver: Bool {
    switch self {
    case .idle, .holding: false
    case .ended, .told: true
    }
  }

  mutating func noteHolding(_ isHolding: Bool) { if !isOver { self = isHolding ? .holding : .idle } }

  /// Whether the connection broke: nobody is left to be told anything.
  var isBroken: Bool {
    switch self {
    case .ended(.failed), .told(.failed): true
    case .idle, .holding, .ended, .told: false
    }
  }

  /// The first end stays.
  mutating func ended(_ step: TLSEngine.Step) { if !isOver { self = .ended(step) } }

  /// How it ended, which the reader knows from now on; `nil`: it has not.
  mutating func tell() -> TLSEngine.Step? {
    switch self {
    case .idle, .holding: return nil
    case .ended(let step), .told(let step):
      self = .told(step)
      return step
    }
  }
}

/// How far the writer of a TLS connection has come.
enum TLSWriting: UInt8, Hashable {
  case open
  /// The kernel's records: `close_notify` found the socket full.
  case owing
  /// `close_notify` or a fatal alert was the last word.
  case ended

  /// `false`: it had ended before.
  mutating func end() -> Bool {
    guard self == .open else { return false }
    self = .ended
    return true
  }

  /// `close_notify` was tried. `false`: writing has not ended, which is impossible.
  mutating func noteCloseNotify(isOwed: Bool) -> Bool {
    guard self != .open else { return false }
    self = isOwed ? .owing : .ended
    return true
  }
}
