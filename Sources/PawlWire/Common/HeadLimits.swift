/// The limits of a head; a larger one is refused. All sizes in bytes.
package struct HeadLimits: Hashable, Sendable {
  /// The largest head, with its empty line. A larger request is refused with 431; for a larger response the client gets 502.
  package var maxHead: Int
  /// The most field lines. A request with more is refused with 431; for a response with more the client gets 502.
  package var maxFields: Int
  /// The longest request line, without its line end. A longer line is refused with 414. RFC 9112 §3 asks for at least 8000.
  package var maxRequestLine: Int
  /// The longest method. A longer method is refused with 501.
  package var maxMethod: Int
  /// The number of empty lines that may precede a request; they are skipped (RFC 9112 §2.2).
  package var leadingEmptyLines: Int

  package init(
    maxHead: Int = 32 << 10, maxFields: Int = 128, maxRequestLine: Int = 16 << 10, maxMethod: Int = 32,
    leadingEmptyLines: Int = 2
  ) {
    (self.maxHead, self.maxFields, self.maxRequestLine) = (maxHead, maxFields, maxRequestLine)
    (self.maxMethod, self.leadingEmptyLines) = (maxMethod, leadingEmptyLines)
  }
}
