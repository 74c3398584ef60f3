import PawlCache
import PawlHTTP
import Testing

@Suite("Freshness (RFC 9111 §4.2)") struct FreshnessTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var fields: [String]
    var status = 200
    var policy = CachePolicy()
    var lifetime: Int64
    var testDescription: String { "\(status) \(fields)" }
  }

  @Test(
    "finds how long a response is fresh",
    arguments: [
      Row(fields: [], lifetime: 0),
      Row(fields: ["Cache-Control: max-age=3600"], lifetime: 3600),
      Row(fields: ["Cache-Control: MaX-aGe=3600, foobar"], lifetime: 3600),
      Row(fields: ["Cache-Control: max-age=-3600"], lifetime: 0),
      Row(fields: ["Cache-Control: max-age=99999999999"], lifetime: 1 << 31),
      Row(fields: ["Cache-Control: max-age=1, s-maxage=3600"], lifetime: 3600),
      Row(fields: ["Cache-Control: max-age=3600", "Cache-Control: s-maxage=1"], lifetime: 1),
      Row(fields: ["Cache-Control: max-age=3600", Messages.dated("Expires", -7200)], lifetime: 3600),
      Row(fields: ["Cache-Control: max-age=0", Messages.dated("Expires", 7200)], lifetime: 0),
      Row(fields: ["Cache-Control: max-age=3600", "Expires: 0"], lifetime: 3600),
      Row(fields: [Messages.dated("Expires", 30)], lifetime: 30),
      Row(fields: [Messages.dated("Expires", 0)], lifetime: 0),
      Row(fields: [Messages.dated("Expires", -30)], lifetime: 0),
      Row(fields: [Messages.dated("Expires", 30), Messages.dated("Date", 10)], lifetime: 20),
      Row(fields: ["Expires: 0"], lifetime: 0),
      Row(fields: ["Expires: Thu, 18 Aug 2050 02:01:18 UTC"], lifetime: 0),
      Row(fields: [Messages.dated("Expires", 30), Messages.dated("Expires", 30)], lifetime: 0),
      Row(fields: ["Expires: 0", Messages.dated("Last-Modified", -1000)], lifetime: 0),
      // Targeted.
      Row(fields: ["CDN-Cache-Control: max-age=10", "Cache-Control: max-age=1"], lifetime: 10),
      Row(fields: ["CDN-Cache-Control: max-age=10", Messages.dated("Expires", -10)], lifetime: 10),
      Row(fields: ["CDN-Cache-Control: foo", "Cache-Control: max-age=1", Messages.dated("Expires", 9)], lifetime: 0),
      Row(fields: ["CDN-Cache-Control: &&&", "Cache-Control: max-age=1"], lifetime: 1),
      // Heuristic.
      Row(fields: [Messages.dated("Last-Modified", -1000)], lifetime: 100),
      Row(fields: [Messages.dated("Last-Modified", 1000)], lifetime: 0),
      Row(fields: [Messages.dated("Last-Modified", -1_000_000_000)], lifetime: 86_400),
      Row(fields: [Messages.dated("Last-Modified", -1000)], status: 404, lifetime: 100),
      Row(fields: [Messages.dated("Last-Modified", -1000)], status: 403, lifetime: 0),
      Row(fields: [Messages.dated("Last-Modified", -1000), "Cache-Control: public"], status: 599, lifetime: 100),
      Row(fields: [Messages.dated("Last-Modified", -1000)], policy: CachePolicy(defaultTTL: 7), lifetime: 100),
      Row(
        fields: [Messages.dated("Last-Modified", -10_000)], policy: CachePolicy(heuristicTTL: 1000), lifetime: 1000),
      Row(
        fields: [Messages.dated("Last-Modified", -10_010)], policy: CachePolicy(heuristicTTL: 1000), lifetime: 1000),
      Row(fields: [Messages.dated("Last-Modified", -9990)], policy: CachePolicy(heuristicTTL: 1000), lifetime: 999),
      Row(fields: [Messages.dated("Last-Modified", -1000)], policy: CachePolicy(heuristicTTL: 0), lifetime: 0),
      Row(
        fields: [Messages.dated("Last-Modified", -1000)], policy: CachePolicy(defaultTTL: 7, heuristicTTL: 0),
        lifetime: 7),
      Row(fields: ["Cache-Control: max-age=3600"], policy: CachePolicy(heuristicTTL: 0), lifetime: 3600),
      // default-ttl.
      Row(fields: [], policy: CachePolicy(defaultTTL: 7), lifetime: 7),
      Row(fields: ["Cache-Control: max-age=0"], policy: CachePolicy(defaultTTL: 7), lifetime: 0),
      Row(fields: [], status: 403, policy: CachePolicy(defaultTTL: 7), lifetime: 0),
    ])
  func lifetimes(_ row: Row) {
    let head = Messages.stored(row.fields, status: row.status)
    #expect(Freshness.evaluate(head, policy: row.policy, now: Messages.now).lifetime == row.lifetime)
  }

  @Test(
    "finds how old a response is",
    arguments: [
      ([], 0), (["Age: 30"], 30), (["Age: 30, 40"], 30), (["Age: 30", "Age: 40"], 30), (["Age: -5"], 0),
      (["Age: 1.5"], 0),
      (["Age: a"], 0), (["Age:"], 0), (["Age: 99999999999999999999999"], 1 << 31), ([Messages.dated("Date", -50)], 50),
      ([Messages.dated("Date", 50)], 0), ([Messages.dated("Date", -50), "Age: 30"], 50),
      ([Messages.dated("Date", -50), "Age: 70"], 70), (["Date: garbage"], 0),
    ] as [([String], Int64)])
  func ages(_ fields: [String], _ expected: Int64) {
    let head = Messages.stored(fields)
    #expect(Freshness.evaluate(head, policy: CachePolicy(), now: Messages.now).age == expected)
    let later = Freshness.evaluate(head, policy: CachePolicy(), now: Messages.now + 100)
    #expect(later.age == min(expected + 100, 1 << 31))
  }

  @Test("counts the time the answer took")
  func delays() {
    let head = StoredHead(
      request: Messages.request(), response: Messages.response(["Age: 10"]), requestTime: Messages.now - 5,
      responseTime: Messages.now, asksIdentity: true)
    #expect(Freshness.evaluate(head, policy: CachePolicy(), now: Messages.now).age == 15)
    #expect(Freshness.evaluate(head, policy: CachePolicy(), now: Messages.now - 1).age == 15)
    #expect(Freshness.evaluate(head, policy: CachePolicy(), now: .max).age == 1 << 31)
  }

  @Test("is fresh for less than its lifetime, not as long")
  func boundary() {
    let head = Messages.stored(["Cache-Control: max-age=10"])
    let at: (Int64) -> Freshness = { Freshness.evaluate(head, policy: CachePolicy(), now: Messages.now + $0) }
    #expect(at(9).isFresh && at(9).ttl == 1 && at(9).staleness == 0)
    #expect(!at(10).isFresh && at(10).ttl == 0 && at(10).staleness == 0)
    #expect(!at(12).isFresh && at(12).ttl == -2 && at(12).staleness == 2)
  }

  @Test("is stale where the clock was set back since by more than a moment")
  func clockSetBack() {
    let head = Messages.stored(["Cache-Control: max-age=3600"])
    let policy = CachePolicy()
    let tolerance = Freshness.clockTolerance
    #expect(Freshness.evaluate(head, policy: policy, now: head.responseTime - tolerance).isFresh)
    #expect(!Freshness.evaluate(head, policy: policy, now: head.responseTime - tolerance - 1).isFresh)
  }
}
