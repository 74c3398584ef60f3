import PawlCache
import PawlHTTP
import Testing

@Suite("Cache key") struct CacheKeyTests {
  @Test("keeps authority and target apart")
  func parts() {
    let key = CacheKey(authority: Bytes("example.org:8080"), target: Bytes("/a?b=c"))
    #expect(key.authority == Bytes("example.org:8080"))
    #expect(key.target == Bytes("/a?b=c"))
    #expect(key.bytes == Array("example.org:8080\0/a?b=c".utf8))
    #expect(key != CacheKey(authority: Bytes("example.org:8080/"), target: Bytes("a?b=c")))
    #expect(CacheKey(authority: [], target: Bytes("/")).target == Bytes("/"))
  }

  @Test("is read back only when it is one", arguments: ["", "no separator", "a\0b\0c"])
  func foreign(_ text: String) { #expect(CacheKey(bytes: Array(text.utf8)) == nil) }

  @Test func readsBack() throws {
    let key = CacheKey(authority: Bytes("a"), target: Bytes("/"))
    #expect(try #require(CacheKey(bytes: key.bytes)) == key)
  }
}
