import Testing

@testable import PawlServer

@Suite("Content that nobody wants") struct UnwantedContentTests {
  static let limit = UInt64(UnwantedContent.limit)

  /// What is left; whether the request expects; whether HTTP/1.1 goes on behind it with the exchange's wish; how much of it
  /// HTTP/2 drops without that wish.
  static let rows: [(UInt64?, expects: Bool, keeps: Bool, budget: Int)] = [
    (0, false, true, UnwantedContent.limit), (limit, false, true, UnwantedContent.limit),
    (limit + 1, false, false, 0), (nil, false, false, 0), (1, true, false, 0),
  ]

  @Test("is read where that is cheap, or wished for", arguments: rows)
  func rules(_ left: UInt64?, expects: Bool, keeps: Bool, budget: Int) {
    #expect(UnwantedContent.keepsConnection(.drained, left, expects: expects) == keeps)
    #expect(!UnwantedContent.keepsConnection(.none, left, expects: expects))
    #expect(UnwantedContent.budget(.none, left, expects: expects) == budget)
    #expect(UnwantedContent.budget(.drained, left, expects: expects) == UnwantedContent.limit)
  }
}
