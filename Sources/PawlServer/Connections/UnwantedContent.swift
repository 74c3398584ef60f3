/// Decides what happens to the rest of a request's content once its answer is complete. Many clients do not read before they have
/// sent all of it: some of the rest is read and dropped. A client that is stopped or cut may never see the answer.
enum UnwantedContent {
  /// What the exchange has requested (``ResponseChannel/drainRequestBody()``).
  enum Wish: UInt8, CaseIterable { case none, drained }

  /// The most bytes of a refused body that are read and dropped, so that its client reads the answer. A body of which no more
  /// than that is left does not cost the connection.
  static let limit = 1 << 20
  /// The time in which a client may go on sending unwanted content, or read its answer, before it is cut off.
  static let time = Duration.seconds(1)

  /// Whether the rest is small enough to be read and dropped. Not for a client that waits for `100 (Continue)`: it may send the
  /// rest or the next request.
  /// - Parameters:
  ///   - remaining: bytes; `nil`: not known.
  ///   - expects: whether the request has `Expect`.
  static func isCheap(_ remaining: UInt64?, expects: Bool) -> Bool {
    guard let remaining else { return false }
    return remaining <= UInt64(limit) && !expects
  }

  /// Whether an HTTP/1.1 connection, on which the rest comes before the next request, goes on behind it.
  static func keepsConnection(_ wish: Wish, _ remaining: UInt64?, expects: Bool) -> Bool {
    wish == .drained && isCheap(remaining, expects: expects)
  }

  /// The number of bytes that are dropped of an HTTP/2 stream before it is given no more credit (RFC 9113 §8.1).
  static func budget(_ wish: Wish, _ remaining: UInt64?, expects: Bool) -> Int {
    wish == .drained || isCheap(remaining, expects: expects) ? limit : 0
  }
}
