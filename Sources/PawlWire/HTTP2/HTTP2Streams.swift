import PawlHTTP

/// The state of one stream, beside that of nghttp2.
struct HTTP2StreamSlot {
  var id: HTTP2StreamID = 0
  var window: HTTP2ReceiveWindow
  var telling = Telling.unread
  var trailers: Fields?
  /// The client has ended its side of the stream, so it needs no more credit.
  var hasEnded = false
  /// The final head was given to nghttp2.
  var hasHead = false
  /// The stream is gone; only earlier events are still to be delivered.
  var isClosed = false
  private(set) var reset = Reset.none
  /// The ready response, which is sent without the delegate.
  var ready: HTTP2ReadyAnswer?

  /// Which events of the stream the delegate has got.
  enum Telling {
    /// Nothing: its head is not parsed yet, or kept for the hot path.
    case unread
    /// The head is parsed; `began` is still to be called.
    case request(HTTP2Request)
    case told
    /// The request is refused, and `refused` is still to be called; its content is dropped.
    case refusal(RequestRefusal, RefusedHead)
    case toldRefusal
  }

  /// Why the stream ends, or ended, before its regular end.
  enum Reset: Hashable {
    case none
    /// The client reset it, or nghttp2 did so by itself.
    case done
    /// The client broke a rule, and nghttp2 is about to reset the stream.
    case doomed
    /// ``HTTP2Session/reset(_:_:)`` was called.
    case own(HTTP2ErrorCode)
  }

  init(id: HTTP2StreamID = 0, window: HTTP2ReceiveWindow) { (self.id, self.window) = (id, window) }

  // MARK: Derived facts

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

  /// Whether the request may still be delivered.
  var mayBeTold: Bool { !isClosed && !isDoomed && !isResetByOwn }

  /// Whether received content is delivered to the delegate.
  var takesContent: Bool {
    guard case .told = telling else { return false }
    return ready == nil && !isDoomed && !isResetByOwn
  }

  private var isDoomed: Bool { reset == .doomed }

  var isResetByOwn: Bool {
    if case .own = reset { true } else { false }
  }

  /// Whether the stream was reset by its client, without a protocol error.
  var wasGivenUp: Bool { reset == .done }

  /// Whether the stream ends irregularly. A reset with `noError`, after a response that is complete before its request, is a
  /// regular end.
  var wasReset: Bool { reset != .none && reset != .own(.noError) }

  // MARK: Events

  /// Notes RST_STREAM from the client, or from nghttp2. A reason that is known already stays.
  mutating func noteReset() {
    if reset == .none { reset = .done }
  }

  /// Notes a frame that broke a rule of the stream.
  mutating func noteInvalid() {
    if !isResetByOwn { reset = .doomed }
  }

  /// Notes that pawl resets the stream.
  /// - Returns: `false` when the stream is gone, or pawl has reset it before.
  mutating func resetOwn(_ code: HTTP2ErrorCode) -> Bool {
    guard !isClosed, !isResetByOwn else { return false }
    reset = .own(code)
    return true
  }
}

/// The streams of a connection. Slots are reused, so that another stream needs no allocation.
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

  /// Whether the slot holds a stream that still receives content.
  func receives(_ slot: Int) -> Bool { slots[slot].id != 0 && !slots[slot].isClosed && !slots[slot].hasEnded }

  subscript(slot: Int) -> HTTP2StreamSlot {
    _read { yield slots[slot] }
    _modify { yield &slots[slot] }
  }
}

/// The events in their order, until they are delivered.
enum HTTP2Event {
  case began(Int), refused(Int), ended(Int), answered(Int)
  /// A plain request: its slot, and the index of its head in `plainHeads`.
  case plain(Int, Int)
  /// Content; the bytes are in the buffer of ``HTTP2Session/receive(_:at:)``.
  case content(Int, UnsafeRawBufferPointer)
  case closed(Int, UInt32?)
}
