/// The limits of a head; a larger one is refused. All sizes in bytes.
package struct HeadLimits: Hashable, Sendable {
  /// The whole head with its empty line. Beyond it: 431, or 502 for a response.
  package var maxHead: Int
  /// The number of field lines. Beyond it: 431, or 502 for a response.
  package var maxFields: Int
  /// The request line without its line end. Beyond it: 414. RFC 9112 §3 asks for at least 8000.
  package var maxRequestLine: Int
  /// The method. Beyond it: 501.
  package var maxMethod: Int
  /// The number of empty lines before a request that are skipped (RFC 9112 §2.2).
  package var leadingEmptyLines: Int

  package init(
    maxHead: Int = 32 << 10, maxFields: Int = 128, maxRequestLine: Int = 16 << 10, maxMethod: Int = 32,
    leadingEmptyLines: Int = 2
  ) {
    (self.maxHead, self.maxFields, self.maxRequestLine) = (maxHead, maxFields, maxRequestLine)
    (self.maxMethod, self.leadingEmptyLines) = (maxMethod, leadingEmptyLines)
  }
}
