/// What becomes of the rest of a request's content once its answer is complete. Many clients do not read before they have
/// sent, so that some of it is read and dropped; one that is told to stop, or cut, may never see the answer.
enum UnwantedContent {
  /// What the exchange has asked for (``ResponseChannel/drainRequestBody()``).
  enum Wish: UInt8, CaseIterable { case none, drained }

  /// Bytes of a refused body that are read, at most, for its client to come to the answer. One of which no more is left does
  /// not cost the connection.
  static let limit = 1 << 20
  /// How long a client whose content is not wanted may go on, or look for its answer, before it is cut off.
  static let time = Duration.seconds(1)

  /// Whether so little is to come that it is simply read. A client that waits for `100 (Continue)` may send the rest, or
  /// the next request.
  /// - Parameters:
  ///   - remaining: bytes; `nil`: nobody knows.
  ///   - expects: whether the request has `Expect`.
  static func isCheap(_ remaining: UInt64?, expects: Bool) -> Bool {
    guard let remaining else { return false }
    return remaining <= UInt64(limit) && !expects
  }

  /// Whether a connection of HTTP/1.1, on which the rest stands before the next request, goes on behind it.
  static func keepsConnection(_ wish: Wish, _ remaining: UInt64?, expects: Bool) -> Bool {
    wish == .drained && isCheap(remaining, expects: expects)
  }

  /// How many bytes of a stream of HTTP/2 are dropped before it is given no more credit (RFC 9113 §8.1).
  static func budget(_ wish: Wish, _ remaining: UInt64?, expects: Bool) -> Int {
    wish == .drained || isCheap(remaining, expects: expects) ? limit : 0
  }
}
