import PawlCache
import PawlConfig
import PawlHTTP
import Testing

@testable import PawlServer

@Suite("What a route compresses") struct RouteCompressionTests {
  private func compression(_ change: (inout SiteSettings) -> Void = { _ in }) -> RouteCompression? {
    var settings = SiteSettings()
    change(&settings)
    return RouteCompression(settings)
  }

  @Test("text from 1K to 8M in zstd, Brotli and gzip, without attachments, of users as the origin does")
  func defaults() throws {
    let made = try #require(compression())
    #expect(made.rules == CompressionRules() && made.codings == [.zstd, .brotli, .gzip] && made.credentials == .auto)
  }

  @Test("what is configured")
  func configured() throws {
    let made = try #require(
      compression {
        $0.compression.types = [.pattern("text/css"), .text]
        ($0.compression.least, $0.compression.greatest, $0.compression.attachments) = (5, 6, true)
        ($0.compression.codings, $0.compression.credentials) = ([.gzip, .br], .off)
      })
    let types = [MediaTypePattern("text/css")] + CompressedTypes.text
    #expect(made.rules == CompressionRules(types: types, least: 5, greatest: 6, attachments: true))
    #expect(made.codings == [.gzip, .brotli] && made.credentials == .off)
  }

  @Test("nothing where no type is listed, and where the origin is asked for codings")
  func nothing() {
    #expect(compression { $0.compression.types = [] } == nil)
    #expect(compression { $0.originEncoding = .pass } == nil)
  }
}
