import PawlCache
import Testing

@Suite("From when to when a response is fresh") struct FreshWindowTests {
  @Test(
    "is what its freshness says at every moment",
    arguments: ["max-age=60", "max-age=0", "s-maxage=10, max-age=60", "public", "max-age=100000000000"], [0, 7])
  func moments(_ control: String, _ age: Int) {
    let head = Messages.stored(["Cache-Control: \(control)", "Age: \(age)"])
    let policy = CachePolicy()
    for made in [0, 3, 59].map({ Messages.now + $0 }) {
      let window = FreshWindow(head, policy: policy, now: made)
      for now in [-6, -5, 0, 1, 9, 10, 52, 53, 59, 60, 61, 100_000].map({ Messages.now + $0 }) {
        let freshness = Freshness.evaluate(head, policy: policy, now: now)
        // A clock that was set back by moments makes nothing older.
        guard now >= Messages.now || now < window.from else { continue }
        #expect(window.contains(now) == freshness.isFresh, "\(made) \(now)")
        guard window.contains(now) else { continue }
        #expect(now - window.born == freshness.age && window.until - now == freshness.ttl, "\(made) \(now)")
      }
    }
  }
}
