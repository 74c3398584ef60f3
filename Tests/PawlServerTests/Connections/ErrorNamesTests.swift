import CLinux
import Testing

@testable import PawlServer

@Suite("Words for broken connections") struct ErrorNamesTests {
  @Test(
    "are the log's own",
    arguments: [
      (ECONNRESET, "reset"), (EPIPE, "broken-pipe"), (ETIMEDOUT, "timed-out"), (EHOSTUNREACH, "unreachable"),
      (ENETUNREACH, "unreachable"), (EIO, "errno-5"),
    ])
  func names(_ code: CInt, _ name: String) { #expect(errorName(code) == name) }
}
