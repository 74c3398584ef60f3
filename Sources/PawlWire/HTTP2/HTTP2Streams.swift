import PawlHTTP

/// What a session knows of one stream, besides what nghttp2 knows.
struct HTTP2Stream {
  var id: HTTP2StreamID = 0
  var window: HTTP2ReceiveWindow
  /// Whether the delegate knows of it.
  var isTold = false
  /// Between the head and its `began`.
  var request: HTTP2Request?
  /// Why it was refused: what content comes is dropped.
  var refusal: RequestRefusal?
  var trailers: Fields?
  /// The peer has ended its side: it needs no credit.
  var hasEnded = false
  /// The final head has been handed over.
  var hasHead = false
  /// The stream is gone; only what came before is still to be told.
  var isClosed = false
  var wasReset = false
  /// The client has broken a rule: nghttp2 is about to reset it.
  var isDoomed = false
  /// What is sent without asking the delegate.
  var ready: HTTP2ReadyAnswer?
  /// What ``HTTP2Session/reset(_:_:)`` was called with.
  var ownReset: HTTP2ErrorCode?

  /// Whether it is worth beginning.
  var mayBeTold: Bool { !isClosed && !isDoomed && ownReset == nil }
  /// Whether content that came is for the delegate.
  var takesContent: Bool { isTold && ready == nil && !isDoomed && refusal == nil && ownReset == nil }
}

/// The streams of a connection, each in a slot that is used again: no allocation for one more.
struct HTTP2Streams {
  private var slots: [HTTP2Stream] = []
  private var free: [Int] = []

  var count: Int { slots.count - free.count }
  var indices: Range<Int> { slots.indices }

  mutating func open(_ id: HTTP2StreamID, window: Int) -> Int {
    let stream = HTTP2Stream(id: id, window: HTTP2ReceiveWindow(size: window))
    guard let slot = free.popLast() else {
      slots.append(stream)
      return slots.count - 1
    }
    slots[slot] = stream
    return slot
  }

  mutating func close(_ slot: Int) {
    slots[slot] = HTTP2Stream(window: HTTP2ReceiveWindow(size: 0))
    free.append(slot)
  }

  /// Whether a stream is in the slot whose window matters still.
  func receives(_ slot: Int) -> Bool { slots[slot].id != 0 && !slots[slot].isClosed && !slots[slot].hasEnded }

  subscript(slot: Int) -> HTTP2Stream {
    _read { yield slots[slot] }
    _modify { yield &slots[slot] }
  }
}

/// What came, in its order, until the delegate is told.
enum HTTP2Event {
  case began(Int), refused(Int), ended(Int), answered(Int)
  /// The head is one of those that are kept.
  case plain(Int, Int)
  /// The octets lie in what ``HTTP2Session/receive(_:at:)`` was given.
  case content(Int, UnsafeRawBufferPointer)
  case closed(Int, UInt32?)
}
