import PawlLoop
import Testing

@testable import PawlServer

@Suite("What an origin is known to compress") struct OriginCodingsTests {
  private static let now = Monotonic(nanoseconds: 1_000_000_000_000)
  private static func later(_ seconds: Int) -> Monotonic { now.advanced(by: .seconds(seconds)) }

  @Test("of a route for an hour and not a second longer")
  func routes() {
    var known = OriginCodings()
    #expect(known.compresses(on: 1, at: Self.now) == nil)
    known.note(true, on: 1, at: Self.now)
    known.note(false, on: 2, at: Self.now)
    #expect(known.compresses(on: 1, at: Self.later(3599)) == true && known.compresses(on: 2, at: Self.now) == false)
    #expect(known.compresses(on: 1, at: Self.later(3600)) == nil && known.compresses(on: 3, at: Self.now) == nil)
    known.note(false, on: 1, at: Self.later(10))
    #expect(known.compresses(on: 1, at: Self.later(3600)) == false)
  }

  @Test("of so many routes and not one more, until some are out of date")
  func manyRoutes() {
    var known = OriginCodings()
    for route in 0..<OriginCodings.limit { known.note(true, on: route, at: Self.now) }
    known.note(true, on: OriginCodings.limit, at: Self.later(1))
    #expect(known.compresses(on: OriginCodings.limit, at: Self.later(1)) == nil)
    known.note(false, on: 0, at: Self.later(1))
    #expect(known.compresses(on: 0, at: Self.later(1)) == false)
    known.note(true, on: OriginCodings.limit, at: Self.later(3600))
    #expect(known.compresses(on: OriginCodings.limit, at: Self.later(3600)) == true)
  }

  @Test(
    "paths are told apart by their endings",
    arguments: [
      ("/a/b.PBF", ".pbf"), ("/a/b.tar.gz?x=.y/z", ".gz"), ("/a", ""), ("/a.b/c", ""), ("/", ""), ("", ""),
      ("/.x", ".x"),
      ("/a.", "."), ("/a.0123456789abcdef", ".0123456789abcde"),
    ])
  func endings(_ target: String, _ ending: String) {
    #expect(OriginCodings.Key(route: 1, target: target.utf8).ending == Array(ending.utf8))
  }

  @Test("of an ending for an hour; of so many, and the oldest is learnt anew")
  func manyEndings() {
    func key(_ number: Int) -> OriginCodings.Key { OriginCodings.Key(route: 1, target: "/x.\(number)".utf8) }
    var known = OriginCodings()
    for number in 0..<OriginCodings.limit { known.note(.plain, of: key(number), at: Self.later(number)) }
    #expect(
      known.unlisted(key(0), at: Self.later(3599)) == .plain && known.unlisted(key(0), at: Self.later(3600)) == nil)
    known.note(.unknown, of: key(0), at: Self.later(2000))
    known.note(.compressed([1]), of: key(-1), at: Self.later(2001))
    let at = Self.later(2001)
    #expect(known.unlisted(key(1), at: at) == nil && known.unlisted(key(2), at: at) == .plain)
    #expect(known.unlisted(key(0), at: at) == .unknown && known.unlisted(key(-1), at: at) == .compressed([1]))
  }
}
