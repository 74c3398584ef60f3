import PawlCache
import Testing

@Suite("Resumption from stale bytes (resume-ttl)") struct StaleResumeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var stored: [String] = []
    var request: [String] = []
    var since: Int64 = 100
    var ttl: Int64 = 3600
    var expected: StaleResume
    var testDescription: String { "\(stored) \(request), \(since)s of \(ttl)s" }
  }

  @Test(
    "asks an origin that gave a validator, and spares one that did not for a while",
    arguments: [
      Row(expected: .serve),
      Row(stored: ["Cache-Control: max-age=1"], expected: .serve),
      Row(since: 3599, expected: .serve),
      Row(since: 3600, expected: .compare),
      Row(since: 0, ttl: 0, expected: .compare),
      Row(since: -10, expected: .serve),
      Row(stored: ["ETag: \"a\""], expected: .validate),
      Row(stored: ["ETag: W/\"a\""], since: 9999, expected: .validate),
      Row(stored: [Messages.dated("Last-Modified", -1)], expected: .validate),
      Row(stored: ["Cache-Control: no-cache"], expected: .compare),
      Row(stored: ["Cache-Control: must-revalidate"], expected: .compare),
      Row(stored: ["Cache-Control: no-store, must-understand"], expected: .compare),
      Row(request: ["Cache-Control: no-cache"], expected: .compare),
      Row(request: ["Cache-Control: max-age=0"], expected: .compare),
      Row(request: ["Pragma: no-cache"], expected: .compare),
    ])
  func decides(_ row: Row) {
    let decision = decideStaleResume(
      Messages.stored(row.stored, age: 9999), request: Messages.request(row.request), givenAt: Messages.now - row.since,
      policy: CachePolicy(resumeTTL: row.ttl), now: Messages.now)
    #expect(decision == row.expected)
  }
}
