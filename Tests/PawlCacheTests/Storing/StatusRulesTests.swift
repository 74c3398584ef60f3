import Testing

@testable import PawlCache

@Suite("Status codes of a cache") struct StatusRulesTests {
  @Test("are heuristically cacheable as RFC 9110 §15.1 lists them, but 206")
  func heuristic() {
    let cacheable = (100...999).filter(StatusRules.isHeuristicallyCacheable)
    #expect(cacheable == [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
  }

  @Test(
    "are understood where RFC 9110 defines them, but 206 and 304",
    arguments: [
      (200, true), (205, true), (206, false), (299, false), (303, true), (304, false), (306, false), (307, true),
      (308, true), (404, true), (418, false), (422, true), (451, false), (505, true), (506, false), (599, false),
    ])
  func understood(_ status: Int, _ expected: Bool) { #expect(StatusRules.isUnderstood(status) == expected) }
}
