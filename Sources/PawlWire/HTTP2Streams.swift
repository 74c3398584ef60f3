import PawlHTTP

/// What a session knows of one stream, besides what nghttp2 knows.
struct HTTP2Stream {
  let id: HTTP2StreamID
  /// Whether the delegate knows of it.
  var isTold = false
  var window: HTTP2ReceiveWindow
  /// Between the head and its `began` or `refused`.
  var request: HTTP2Request?
  /// Why it was refused: what content comes is dropped.
  var refusal: RequestRefusal?
  var trailers = Fields()
  /// The peer has ended its side: it needs no credit.
  var hasEnded = false
  /// The stream is gone; only what came before is still to be told.
  var isClosed = false
  var wasReset = false
  /// What ``HTTP2Session/reset(_:_:)`` was called with.
  var ownReset: HTTP2ErrorCode?

  /// Whether content that came is for the delegate.
  var takesContent: Bool { isTold && refusal == nil && ownReset == nil }
}

/// The streams of a connection, each in a slot that is used again: no allocation for one more.
struct HTTP2Streams {
  private var slots: [HTTP2Stream?] = []
  private var free: [Int] = []

  var count: Int { slots.count - free.count }
  var indices: Range<Int> { slots.indices }

  mutating func open(_ stream: HTTP2Stream) -> Int {
    guard let slot = free.popLast() else {
      slots.append(stream)
      return slots.count - 1
    }
    slots[slot] = stream
    return slot
  }

  mutating func close(_ slot: Int) {
    slots[slot] = nil
    free.append(slot)
  }

  func isOpen(_ slot: Int) -> Bool { slots[slot] != nil }

  /// A stream that is open: slots are handed out by ``open(_:)`` alone.
  subscript(slot: Int) -> HTTP2Stream {
    get { slots[slot].unsafelyUnwrapped }
    _modify { yield &slots[slot]! }
  }
}

/// What came, in its order, until the delegate is told.
enum HTTP2Event {
  case began(Int), refused(Int), ended(Int), answered(Int)
  /// The octets lie in what ``HTTP2Session/receive(_:at:)`` was given.
  case content(Int, UnsafeRawBufferPointer)
  case closed(Int, UInt32?)
}
