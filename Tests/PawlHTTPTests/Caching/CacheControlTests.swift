import PawlHTTP
import Testing

@Suite("Cache directives (RFC 9111 §5.2)") struct CacheControlTests {
  private func parse(_ lines: String...) -> CacheControl { CacheControl(lines.map { Bytes(within: $0) }) }

  private func with(_ change: (inout CacheControl) -> Void) -> CacheControl {
    var directives = CacheControl()
    change(&directives)
    return directives
  }

  @Test("reads each flag in any case") func flags() {
    let flags: [(String, WritableKeyPath<CacheControl, Bool>)] = [
      ("no-store", \.noStore), ("No-StOrE", \.noStore), ("no-cache", \.noCache), ("private", \.isPrivate),
      ("public", \.isPublic), ("must-revalidate", \.mustRevalidate), ("proxy-revalidate", \.proxyRevalidate),
      ("must-understand", \.mustUnderstand), ("only-if-cached", \.onlyIfCached), ("no-transform", \.noTransform),
      ("immutable", \.immutable),
    ]
    for (text, flag) in flags {
      #expect(parse(text) == with { $0[keyPath: flag] = true })
      #expect(parse("x=1, \(text) ,y") == with { $0[keyPath: flag] = true })
    }
  }

  @Test("reads each time") func times() {
    let times: [(String, WritableKeyPath<CacheControl, Int64?>)] = [
      ("max-age", \.maxAge), ("MaX-aGe", \.maxAge), ("s-maxage", \.sMaxAge), ("min-fresh", \.minFresh),
      ("max-stale", \.maxStale), ("stale-while-revalidate", \.staleWhileRevalidate), ("stale-if-error", \.staleIfError),
    ]
    for (name, time) in times {
      #expect(parse("\(name)=60") == with { $0[keyPath: time] = 60 })
      #expect(parse("foo, \(name)=0") == with { $0[keyPath: time] = 0 })
      #expect(parse("\(name)=99999999999999999999") == with { $0[keyPath: time] = 1 << 31 })
    }
  }

  @Test(
    "reads numbers with tolerance, and what is no number as 0",
    arguments: [
      ("max-age=3600", 3600), ("max-age=003600", 3600), ("max-age=\"3600\"", 3600),
      ("max-age=2147483647", 2_147_483_647),
      ("max-age=2147483648", 2_147_483_648), ("max-age=2147483649", 2_147_483_648),
      ("max-age=99999999999", 2_147_483_648),
      ("max-age", 0), ("max-age=", 0), ("max-age=\"\"", 0), ("max-age=-3600", 0), ("max-age='3600'", 0),
      ("max-age=a3600", 0),
      ("max-age=3600a", 0), ("max-age=3600.0", 0), ("max-age=3600.5", 0), ("max-age =3600", 0), ("max-age= 3600", 0),
      ("max-age=\"3600\"x", 0), ("max-age=\"3600", 0), ("max-age=3600;x", 0), ("max-age=+1", 0),
    ] as [(String, Int64)])
  func numbers(_ text: String, _ seconds: Int64) { #expect(parse(text) == with { $0.maxAge = seconds }) }

  @Test("max-stale alone tolerates any staleness, max-stale with nonsense none") func maxStale() {
    #expect(parse("max-stale").maxStale == .max)
    #expect(parse("max-stale, max-stale=5").maxStale == 5)
    #expect(parse("max-stale=x").maxStale == 0)
    #expect(parse("min-fresh=x").minFresh == nil)
  }

  @Test("takes the stricter of two") func duplicates() {
    #expect(parse("max-age=1800, max-age=1").maxAge == 1)
    #expect(parse("max-age=1", "max-age=1800").maxAge == 1)
    #expect(parse("s-maxage=5, s-maxage=x").sMaxAge == 0)
    #expect(parse("min-fresh=5, min-fresh=50").minFresh == 50)
    #expect(parse("public, private") == with { ($0.isPublic, $0.isPrivate) = (true, true) })
  }

  @Test("qualified forms count as if they stood alone") func qualified() {
    #expect(parse("no-cache=\"a, b\"") == with { $0.noCache = true })
    #expect(parse("private=\"set-cookie\", max-age=5") == with { ($0.isPrivate, $0.maxAge) = (true, 5) })
    #expect(parse("private=x").isPrivate)
  }

  @Test("finds no directive inside a quoted string, and none hidden behind an open one") func quotes() {
    #expect(parse("extension=\"max-age=3600\", max-age=1").maxAge == 1)
    #expect(parse("max-age=1, extension=\"max-age=3600\"").maxAge == 1)
    #expect(parse("x=\"no-store, a\\\", private\"") == CacheControl())
    #expect(parse("x=\"a, no-store").noStore)
    #expect(parse("x=\"\\\", no-store").noStore)
  }

  @Test(
    "reads nothing from nothing",
    arguments: ["", " ", ",", ", ,", "=", "nothing-to-see-here", "no-store2", "no_store", "\"no-store\""])
  func nothing(_ text: String) {
    #expect(parse(text) == CacheControl())
    #expect(parse() == CacheControl())
  }

  @Test("reads all lines of a message and no other field") func message() {
    let message = fields(("Cache-Control", "max-age=5"), ("Pragma", "no-cache"), ("cache-control", "no-transform"))
    #expect(CacheControl(message) == with { ($0.maxAge, $0.noTransform) = (5, true) })
  }
}
