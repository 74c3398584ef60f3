import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Whose request a fetch is") struct AskerTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var own: [(FieldName, String)]
    var other: [(FieldName, String)]
    var isLike: Bool
    var testDescription: String { "\(own) and \(other)" }
  }

  @Test(
    "recognises a request that differs in nothing but its range",
    arguments: [
      Row(own: [], other: [(.range, "bytes=5-")], isLike: true),
      Row(own: [(.range, "bytes=0-4")], other: [(.range, "bytes=5-")], isLike: true),
      Row(own: [(.range, "bytes=0-4")], other: [], isLike: false),
      Row(own: [(.cookie, "a")], other: [(.range, "bytes=5-"), (.cookie, "a")], isLike: true),
      Row(own: [(.cookie, "a")], other: [(.range, "bytes=5-"), (.cookie, "b")], isLike: false),
      Row(own: [(.cookie, "a")], other: [(.range, "bytes=5-")], isLike: false),
      Row(own: [], other: [(.range, "bytes=5-"), (.ifRange, "\"a\"")], isLike: false),
    ])
  func likeness(_ row: Row) throws {
    let bench = try ServerBench()
    let asker = Asker(bench.request(.get, "/f", row.own))
    #expect(asker.isLike(bench.request(.get, "/f", row.other)) == row.isLike)
    #expect(!asker.isLike(bench.request(.head, "/f", row.other)))
  }

  @Test("compares cookies, and knows a credential")
  func cookies() throws {
    let bench = try ServerBench()
    let asker = Asker(bench.request(.get, "/f", [(.cookie, "a"), (.authorization, "x")]))
    #expect(asker.hasCredential)
    #expect(asker.hasSameCookies(bench.request(.get, "/f", [(.cookie, "a")])))
    #expect(!asker.hasSameCookies(bench.request(.get, "/f", [(.cookie, "b")])))
    #expect(!asker.hasSameCookies(bench.request()))
  }
}
