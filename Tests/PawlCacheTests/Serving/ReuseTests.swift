import PawlCache
import Testing

@Suite("Reuse (RFC 9111 §4)") struct ReuseTests {
  enum Kind: Sendable { case fresh, validate, staleAllowed, staleWhileRevalidate }

  struct Row: Sendable, CustomTestStringConvertible {
    var stored: [String]
    var age: Int64 = 0
    var request: [String] = []
    var expected: Kind
    var testDescription: String { "\(stored) at \(age), \(request)" }
  }

  private static func kind(_ reuse: Reuse) -> Kind {
    switch reuse {
    case .fresh: .fresh
    case .validate: .validate
    case .staleAllowed: .staleAllowed
    case .staleWhileRevalidate: .staleWhileRevalidate
    }
  }

  @Test(
    "decides what a stored response is good for",
    arguments: [
      Row(stored: ["Cache-Control: max-age=10"], age: 9, expected: .fresh),
      Row(stored: ["Cache-Control: max-age=10"], age: 10, expected: .validate),
      Row(stored: [], expected: .validate),
      Row(stored: ["Cache-Control: max-age=10, no-cache"], expected: .validate),
      Row(stored: ["Cache-Control: max-age=10, no-cache=\"a\""], expected: .validate),
      Row(stored: ["CDN-Cache-Control: no-cache", "Cache-Control: max-age=10"], expected: .validate),
      Row(stored: ["Cache-Control: max-age=10, must-revalidate"], age: 3, expected: .fresh),
      // The request's own wishes.
      Row(stored: ["Cache-Control: max-age=10"], request: ["Cache-Control: no-cache"], expected: .validate),
      Row(stored: ["Cache-Control: max-age=10"], request: ["Cache-Control: x, no-cache"], expected: .validate),
      Row(stored: ["Cache-Control: max-age=10"], request: ["Cache-Control: nothing-to-see-here"], expected: .fresh),
      Row(stored: ["Cache-Control: max-age=10"], request: ["Pragma: no-cache"], expected: .validate),
      Row(stored: ["Cache-Control: max-age=10"], request: ["Pragma: foo"], expected: .fresh),
      Row(
        stored: ["Cache-Control: max-age=10"], request: ["Pragma: no-cache", "Cache-Control: x"], expected: .fresh),
      Row(stored: ["Cache-Control: max-age=10"], request: ["Cache-Control: max-age=0"], expected: .validate),
      Row(stored: ["Cache-Control: max-age=10"], age: 5, request: ["Cache-Control: max-age=5"], expected: .fresh),
      Row(stored: ["Cache-Control: max-age=10"], age: 6, request: ["Cache-Control: max-age=5"], expected: .validate),
      Row(stored: ["Cache-Control: max-age=10"], age: 5, request: ["Cache-Control: min-fresh=5"], expected: .fresh),
      Row(stored: ["Cache-Control: max-age=10"], age: 6, request: ["Cache-Control: min-fresh=5"], expected: .validate),
      // Immutable.
      Row(stored: ["Cache-Control: max-age=10, immutable"], request: ["Cache-Control: max-age=0"], expected: .fresh),
      Row(
        stored: ["Cache-Control: max-age=10, immutable"], age: 11, request: ["Cache-Control: max-age=0"],
        expected: .validate),
      Row(stored: ["Cache-Control: max-age=10, immutable"], request: ["Cache-Control: no-cache"], expected: .validate),
      // max-stale.
      Row(
        stored: ["Cache-Control: max-age=10"], age: 15, request: ["Cache-Control: max-stale=5"], expected: .staleAllowed
      ),
      Row(stored: ["Cache-Control: max-age=10"], age: 16, request: ["Cache-Control: max-stale=5"], expected: .validate),
      Row(
        stored: ["Cache-Control: max-age=10"], age: 9999, request: ["Cache-Control: max-stale"], expected: .staleAllowed
      ),
      Row(
        stored: ["Cache-Control: max-age=10, must-revalidate"], age: 11, request: ["Cache-Control: max-stale"],
        expected: .validate),
      Row(
        stored: ["Cache-Control: max-age=10, proxy-revalidate"], age: 11, request: ["Cache-Control: max-stale"],
        expected: .validate),
      Row(stored: ["Cache-Control: s-maxage=10"], age: 11, request: ["Cache-Control: max-stale"], expected: .validate),
      // stale-while-revalidate.
      Row(stored: ["Cache-Control: max-age=1, stale-while-revalidate=4"], age: 5, expected: .staleWhileRevalidate),
      Row(stored: ["Cache-Control: max-age=1, stale-while-revalidate=4"], age: 6, expected: .validate),
      Row(stored: ["Cache-Control: s-maxage=1, stale-while-revalidate=4"], age: 3, expected: .staleWhileRevalidate),
      Row(
        stored: ["Cache-Control: max-age=1, stale-while-revalidate=4, must-revalidate"], age: 3, expected: .validate),
      Row(
        stored: ["Cache-Control: max-age=1, stale-while-revalidate=4"], age: 3, request: ["Cache-Control: max-age=0"],
        expected: .validate),
    ])
  func decides(_ row: Row) {
    let reuse = Reuse.decide(
      Messages.stored(row.stored, age: row.age), request: Messages.request(row.request), policy: CachePolicy(),
      now: Messages.now)
    #expect(Self.kind(reuse) == row.expected)
  }
}
