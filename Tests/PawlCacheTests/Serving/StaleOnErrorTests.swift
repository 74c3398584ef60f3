import PawlCache
import Testing

@Suite("Stale on error (RFC 9111 §4.2.4, RFC 5861 §4)") struct StaleOnErrorTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var stored: String
    var age: Int64 = 12
    var policy: Int64 = 0
    var onClose: Bool
    var on503: Bool
    var testDescription: String { "\(stored) at \(age), stale-if-error = \(policy)s" }
  }

  @Test(
    "gives a stale response out when that is allowed",
    arguments: [
      Row(stored: "max-age=10", onClose: true, on503: false),
      Row(stored: "max-age=10", age: 999_999, onClose: true, on503: false),
      Row(stored: "max-age=10", policy: 2, onClose: true, on503: true),
      Row(stored: "max-age=10", policy: 1, onClose: true, on503: false),
      Row(stored: "max-age=10, stale-if-error=2", onClose: true, on503: true),
      Row(stored: "max-age=10, stale-if-error=1", policy: 99, onClose: false, on503: false),
      Row(stored: "max-age=10, stale-if-error=0", policy: 99, onClose: false, on503: false),
      Row(stored: "max-age=10, must-revalidate", policy: 99, onClose: false, on503: false),
      Row(stored: "max-age=10, must-revalidate, stale-if-error=99", onClose: false, on503: false),
      Row(stored: "max-age=10, proxy-revalidate", policy: 99, onClose: false, on503: false),
      Row(stored: "max-age=10, no-cache", policy: 99, onClose: false, on503: false),
      Row(stored: "max-age=10, s-maxage=10", policy: 99, onClose: false, on503: false),
      Row(stored: "s-maxage=10, stale-if-error=99", onClose: true, on503: true),
      // Never fresh: kept for resumption, unless the route or the response says more.
      Row(stored: "x", onClose: false, on503: false),
      Row(stored: "max-age=0", onClose: false, on503: false),
      Row(stored: "x", policy: 99, onClose: true, on503: true),
      Row(stored: "x", policy: 11, onClose: false, on503: false),
      Row(stored: "max-age=0, stale-if-error=99", onClose: true, on503: true),
    ])
  func decides(_ row: Row) {
    let head = Messages.stored(["Cache-Control: " + row.stored], age: row.age)
    func isServed(_ failure: ValidationFailure) -> Bool {
      mayServeStaleOnError(head, policy: CachePolicy(staleIfError: row.policy), now: Messages.now, failure: failure)
    }
    #expect(isServed(.disconnected) == row.onClose)
    for status in [500, 502, 503, 504] { #expect(isServed(.status(status)) == row.on503) }
    for status in [200, 404, 410, 501, 599] { #expect(!isServed(.status(status))) }
  }
}
