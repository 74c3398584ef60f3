/// Decides what happens to the rest of a request's content once its answer is complete. Many clients do not read the answer
/// before they have sent all content, so pawl reads and drops some of the rest. A client that is stopped or cut may never see the
/// answer.
enum UnwantedContent {
  /// What the exchange has requested (``ResponseChannel/drainRequestBody()``).
  enum Wish: UInt8, CaseIterable { case none, drained }

  /// The most bytes of unwanted content that are read and dropped, so that the client reads the answer. If no more than this is
  /// left, the connection can go on.
  static let limit = 1 << 20
  /// The time in which a client may go on sending unwanted content, or read its answer, before it is cut off.
  static let time = Duration.seconds(1)

  /// Whether the rest is small enough to be read and dropped. Returns `false` for a client that waits for `100 (Continue)`,
  /// because such a client may send either the rest or the next request, and pawl cannot know which.
  /// - Parameters:
  ///   - remaining: the bytes of the rest; `nil`: not known.
  ///   - expects: whether the request has `Expect`.
  static func isCheap(_ remaining: UInt64?, expects: Bool) -> Bool {
    guard let remaining else { return false }
    return remaining <= UInt64(limit) && !expects
  }

  /// Whether an HTTP/1.1 connection is used again after the rest, which comes before the next request.
  static func keepsConnection(_ wish: Wish, _ remaining: UInt64?, expects: Bool) -> Bool {
    wish == .drained && isCheap(remaining, expects: expects)
  }

  /// The number of bytes of an HTTP/2 stream that are read and dropped. After these the stream gets no more credit (RFC 9113
  /// §8.1).
  static func budget(_ wish: Wish, _ remaining: UInt64?, expects: Bool) -> Int {
    wish == .drained || isCheap(remaining, expects: expects) ? limit : 0
  }
}
