import PawlHTTP

/// What a session knows of one stream, besides what nghttp2 knows.
struct HTTP2StreamSlot {
  var id: HTTP2StreamID = 0
  var window: HTTP2ReceiveWindow
  var telling = Telling.unread
  var trailers: Fields?
  /// The peer has ended its side: it needs no credit.
  var hasEnded = false
  /// The final head has been handed over.
  var hasHead = false
  /// The stream is gone; only what came before is still to be told.
  var isClosed = false
  private(set) var reset = Reset.none
  /// What is sent without asking the delegate.
  var ready: HTTP2ReadyAnswer?

  /// What the delegate knows of it.
  enum Telling {
    /// Nothing: its head is not read, or kept as it is.
    case unread
    /// The head is read; its `began` is to come.
    case request(HTTP2Request)
    case told
    /// It is refused, which is to be told; what content comes is dropped.
    case refusal(RequestRefusal)
    case toldRefusal
  }

  /// Why it ends, or has ended, before its end.
  enum Reset: Hashable {
    case none
    /// The client has reset it, or nghttp2 has by itself.
    case done
    /// The client has broken a rule: nghttp2 is about to reset it.
    case doomed
    /// ``HTTP2Session/reset(_:_:)`` was called.
    case own(HTTP2ErrorCode)
  }

  init(id: HTTP2StreamID = 0, window: HTTP2ReceiveWindow) { (self.id, self.window) = (id, window) }

  // MARK: What follows from that

  var isTold: Bool {
    switch telling {
    case .told, .toldRefusal: true
    case .unread, .request, .refusal: false
    }
  }

  var isRefused: Bool {
    switch telling {
    case .refusal, .toldRefusal: true
    case .unread, .request, .told: false
    }
  }

  /// Whether it is worth beginning.
  var mayBeTold: Bool { !isClosed && !isDoomed && !isResetByOwn }

  /// Whether content that came is for the delegate.
  var takesContent: Bool {
    guard case .told = telling else { return false }
    return ready == nil && !isDoomed && !isResetByOwn
  }

  private var isDoomed: Bool { reset == .doomed }

  var isResetByOwn: Bool {
    if case .own = reset { true } else { false }
  }

  /// Whether its client has ended it, having broken no rule.
  var wasGivenUp: Bool { reset == .done }

  /// Whether it ends by something else than its end. An answer that is complete before its request ends well.
  var wasReset: Bool { reset != .none && reset != .own(.noError) }

  // MARK: Events

  /// RST_STREAM has come, or has gone without our asking. What was known before is the reason.
  mutating func noteReset() {
    if reset == .none { reset = .done }
  }

  /// A frame broke a rule of the stream.
  mutating func noteInvalid() {
    if !isResetByOwn { reset = .doomed }
  }

  /// It is to be reset by us.
  /// - Returns: `false` where it is over, or was reset so before.
  mutating func resetOwn(_ code: HTTP2ErrorCode) -> Bool {
    guard !isClosed, !isResetByOwn else { return false }
    reset = .own(code)
    return true
  }
}

/// The streams of a connection, each in a slot that is used again: no allocation for one more.
struct HTTP2Streams {
  private var slots: [HTTP2StreamSlot] = []
  private var free: [Int] = []

  var count: Int { slots.count - free.count }
  var indices: Range<Int> { slots.indices }

  mutating func open(_ id: HTTP2StreamID, window: Int) -> Int {
    let stream = HTTP2StreamSlot(id: id, window: HTTP2ReceiveWindow(size: window))
    guard let slot = free.popLast() else {
      slots.append(stream)
      return slots.count - 1
    }
    slots[slot] = stream
    return slot
  }

  mutating func close(_ slot: Int) {
    slots[slot] = HTTP2StreamSlot(window: HTTP2ReceiveWindow(size: 0))
    free.append(slot)
  }

  /// Whether a stream is in the slot whose window matters still.
  func receives(_ slot: Int) -> Bool { slots[slot].id != 0 && !slots[slot].isClosed && !slots[slot].hasEnded }

  subscript(slot: Int) -> HTTP2StreamSlot {
    _read { yield slots[slot] }
    _modify { yield &slots[slot] }
  }
}

/// What came, in its order, until the delegate is told.
enum HTTP2Event {
  case began(Int), refused(Int), ended(Int), answered(Int)
  /// The head is one of those that are kept.
  case plain(Int, Int)
  /// The bytes lie in what ``HTTP2Session/receive(_:at:)`` was given.
  case content(Int, UnsafeRawBufferPointer)
  case closed(Int, UInt32?)
}
