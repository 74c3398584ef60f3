import PawlHTTP
import Testing

@Suite("CDN-Cache-Control (RFC 9213)") struct TargetedCacheControlTests {
  private func parse(_ lines: String...) -> CacheControl? {
    TargetedCacheControl.parse(cdn: lines.map { Bytes(within: $0) })
  }

  @Test(
    "reads what Cache-Control would say",
    arguments: [
      "max-age=3600", "max-age=0", "no-store", "no-cache", "private", "public, s-maxage=5",
      "must-revalidate, max-age=1",
      "foobar, max-age=3600", "stale-while-revalidate=5, stale-if-error=6, immutable", "max-age=2147483648",
      "max-age=99999999999", "proxy-revalidate, must-understand, no-transform", "foo",
    ])
  func same(_ text: String) { #expect(parse(text) == CacheControl([Bytes(text)])) }

  @Test("joins lines, takes the last of two, ignores parameters") func structure() {
    #expect(parse("max-age=5", "no-cache") == CacheControl([Bytes("max-age=5, no-cache")]))
    #expect(parse("max-age=5, max-age=6")?.maxAge == 6)
    #expect(parse("max-age=5;x=y, no-store;z") == CacheControl([Bytes("max-age=5, no-store")]))
    #expect(parse("no-store=?0, max-age=1") == CacheControl([Bytes("max-age=1")]))
    #expect(parse("private=\"x\", no-cache=\"y\"") == CacheControl([Bytes("private, no-cache")]))
    #expect(parse("max-age=-1")?.maxAge == 0)
  }

  @Test(
    "is as if absent when it cannot be used",
    arguments: [
      "", " ", "max-age=10000, &&&&&", "max-age=\"10000\"", "max-age", "max-age=1.5", "max-age =100", "max-age= 100",
      "MaX-aGe=3600", "max-age=5,", "no-store=1", "no-store=yes", "private=1", "max-age=(1 2)", "s-maxage=:YQ==:",
      "max-age=9999999999999999",
    ])
  func unusable(_ text: String) { #expect(parse(text) == nil) }

  @Test("is absent without a line") func absent() { #expect(parse() == nil) }
}
