import Testing

@testable import PawlConfig

@Suite("What a site compresses") struct CompressionSettingsTests {
  private static func settings(_ lines: String) throws -> CompressionSettings {
    try #require(try load(smallest + lines).sites.first).settings.compression
  }

  @Test(
    "is written as words, media types and patterns",
    arguments: [
      ("off", []), ("OFF", []), ("", []), ("text", [.text]), ("on", [.text]), ("Text", [.text]),
      ("text/html", [.pattern("text/html")]), ("Text/HTML", [.pattern("text/html")]),
      ("text, application/pdf", [.text, .pattern("application/pdf")]),
      (
        "text/* application/*+json,font/ttf",
        [.pattern("text/*"), .pattern("application/*+json"), .pattern("font/ttf")]
      ),
      ("text/event-stream", [.pattern("text/event-stream")]),
      ("application/vnd.a-b_c!#$&^.d+xml", [.pattern("application/vnd.a-b_c!#$&^.d+xml")]),
      ("text\ncompress = image/bmp", [.text, .pattern("image/bmp")]),
    ] as [(String, [CompressedType])])
  func types(_ value: String, _ expected: [CompressedType]) throws {
    #expect(try Self.settings("compress = \(value)").types == expected)
  }

  private static let expected = "expected off, text, or media types such as text/html, text/* or application/*+json"

  @Test(
    "is refused with what was meant",
    arguments: [
      ("html", "\(expected), found \"html\" - did you mean \"text/html\"?"),
      ("*.css", "\(expected), found \"*.css\" - did you mean \"text/css\"?"),
      (".JS", "\(expected), found \".JS\" - did you mean \"text/javascript\"?"),
      ("txt/html/x", "\(expected), found \"txt/html/x\" - did you mean \"text/html\"?"),
      ("texd", "\(expected), found \"texd\" - did you mean \"text\"?"),
      ("no", "\(expected), found \"no\" - did you mean \"off\"?"),
      ("everything", "\(expected), found \"everything\""),
      ("/html", "\(expected), found \"/html\""), ("x-y/", "\(expected), found \"x-y/\""),
      (
        "*/*",
        "\(expected), found \"*/*\": images and archives are compressed already - did you mean \"text\"?"
      ),
      ("*", "\(expected), found \"*\": images and archives are compressed already - did you mean \"text\"?"),
      (
        "text/html; charset=utf-8",
        "expected media types without parameters, found \"text/html;\" - did you mean \"text/html\"?"
      ),
      ("off, text", "expected off by itself, or others without it, found \"off, text\""),
    ]
      + ["text/x*", "*/html", "text/**", "text/*+", "text/*json", "application/*+*"].map {
        (
          $0,
          "a star stands for a whole subtype (text/*) or for what is before its suffix (application/*+json), found \"\($0)\""
        )
      })
  func refused(_ value: String, _ message: String) { #expect(refusal("compress", value) == message) }

  @Test(
    "other keys are refused with what was meant",
    arguments: [
      ("compress-codings", "brotli", "expected zstd, br or gzip, found \"brotli\" - did you mean \"br\"?"),
      ("compress-codings", "gzip, zst", "expected zstd, br or gzip, found \"zst\" - did you mean \"zstd\"?"),
      ("compress-codings", "off", "expected zstd, br or gzip, found \"off\""),
      ("compress-codings", "", "expected zstd, br or gzip, found nothing"),
      ("compress-credentials", "always", "expected auto, on or off, found \"always\""),
      ("compress-attachments", "maybe", "expected on or off, found \"maybe\""),
      ("compress-min", "1KB", "expected a size such as 64K, 10M or 5G, found \"1KB\" - did you mean \"1K\"?"),
      ("via", "nginx", "expected on, off or always, found \"nginx\""),
      ("compres", "text", "unknown key - did you mean \"compress\"?"),
    ])
  func refusedElsewhere(_ key: String, _ value: String, _ message: String) {
    #expect(refusal(key, value) == message)
  }

  @Test("has sizes, attachments, credentials and codings in the order that is written")
  func others() throws {
    let settings = try Self.settings(
      """
      compress-min = 200
      compress-max = 1M
      compress-attachments = on
      compress-credentials = off
      compress-codings = GZIP, br
      """)
    #expect(settings.least == 200 && settings.greatest == 1 << 20)
    #expect(settings.attachments && settings.credentials == .off && settings.codings == [.gzip, .br])
    #expect(settings.types == [.text])
  }

  @Test("a route says it anew, or has it from its site")
  func routes() throws {
    let site = try #require(
      try load(
        smallest + """
          compress = text/css
          via = off
          [route:default/a]
          path = /a*
          compress = off
          via = on
          [route:default/b]
          path = /b*
          """
      ).sites.first)
    let (a, b) = (site.settings(forPath: Array("/a".utf8)[...]), site.settings(forPath: Array("/b".utf8)[...]))
    #expect(a.compression.types == [] && a.via == .on)
    #expect(b.compression.types == [.pattern("text/css")] && b.via == .off)
  }

  @Test("what cannot have an effect is warned of, once, where it is written")
  func warnings() {
    let place = "/etc/pawl/pawl.ini"
    #expect(
      mistakes(in: smallest + "compress-min = 9M\n[route:default/a]\npath = /a*") == [
        "\(place):5: [site:default] compress-min: 9M is more than compress-max (8M): nothing is compressed (warning)"
      ])
    #expect(
      mistakes(in: smallest + "[route:default/a]\npath = /a*\ncompress-max = 512") == [
        "\(place):7: [route:default/a] compress-max: 512 is less than compress-min (1K): nothing is compressed (warning)"
      ])
    #expect(mistakes(in: smallest + "compress-min = 8M") == [])
    #expect(mistakes(in: smallest + "compress = off\ncompress-min = 9M") == [])
    #expect(
      mistakes(in: smallest + "origin-encoding = pass\ncompress = text") == [
        "\(place):6: [site:default] compress: has no effect with origin-encoding = pass (warning)"
      ])
    #expect(mistakes(in: smallest + "origin-encoding = pass\ncompress = off") == [])
  }
}
