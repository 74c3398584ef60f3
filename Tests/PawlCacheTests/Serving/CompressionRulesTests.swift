import PawlCache
import PawlHTTP
import Testing

@Suite("What is compressed") struct CompressionRulesTests {
  private static func applies(
    _ lines: [String], status: Int = 200, length: UInt64? = 5000, _ rules: CompressionRules = CompressionRules()
  ) -> Bool {
    rules.apply(to: Messages.response(lines, status: status), length: length)
  }

  private static func rules(_ types: [String]) -> CompressionRules {
    CompressionRules(types: types.map(MediaTypePattern.init))
  }

  @Test(
    "text, and what becomes as much smaller",
    arguments: [
      ("text/html", true), ("Text/HTML; charset=UTF-8", true), ("text/plain", true), ("text/markdown", true),
      ("application/javascript", true), ("application/json;charset=utf-8", true), ("application/ld+json", true),
      ("application/manifest+json", true), ("application/rss+xml", true), ("application/xml", true),
      ("image/svg+xml", true), ("application/wasm", true), ("font/ttf", true), ("image/png", false),
      ("font/woff2", false), ("application/octet-stream", false), ("application/zip", false),
      ("application/pdf", false), ("video/mp4", false), ("multipart/byteranges; boundary=a", false), ("", false),
      ("text", false), ("text/event-stream", false), ("Text/Event-Stream;charset=utf-8", false),
    ])
  func types(_ type: String, _ expected: Bool) {
    #expect(Self.applies(["Content-Type: \(type)"]) == expected)
  }

  @Test("nothing that does not say what it is, and nothing where no type is listed")
  func untyped() {
    #expect(!Self.applies([]))
    #expect(!Self.applies(["Content-Type: text/html"], Self.rules([])))
  }

  @Test("what is listed, and no other")
  func listed() {
    let rules = Self.rules(["application/pdf", "application/*+xml"])
    #expect(Self.applies(["Content-Type: application/pdf"], rules))
    #expect(Self.applies(["Content-Type: application/atom+xml"], rules))
    #expect(!Self.applies(["Content-Type: text/html"], rules))
  }

  @Test("a stream of events only where it is named, not where a pattern would match")
  func events() {
    let events = ["Content-Type: text/event-stream"]
    #expect(!Self.applies(events, length: nil, Self.rules(["text/*"])))
    #expect(Self.applies(events, length: nil, Self.rules(["text/*", "text/event-stream"])))
    #expect(CompressionRules.isEventStream(Messages.fields(["Content-Type: TEXT/event-stream; charset=utf-8"])))
    #expect(!CompressionRules.isEventStream(Messages.fields(["Content-Type: text/event-streams"])))
    #expect(!CompressionRules.isEventStream(Fields()))
  }

  @Test(
    "from 1K to 8M, where the length is known",
    arguments: [
      (0, false), (1023, false), (1024, true), (8 << 20, true), ((8 << 20) + 1, false), (nil, true),
    ] as [(UInt64?, Bool)])
  func lengths(_ length: UInt64?, _ expected: Bool) {
    #expect(Self.applies(["Content-Type: text/html"], length: length) == expected)
  }

  @Test("what has its resource's content, and pages of errors; never a part")
  func statuses() {
    let compressed = [200, 203, 400, 403, 404, 410, 500, 503, 599]
    let others = [100, 103, 201, 202, 204, 205, 206, 226, 300, 301, 304, 308, 600, 999]
    for status in compressed { #expect(Self.applies(["Content-Type: text/html"], status: status), "\(status)") }
    for status in others { #expect(!Self.applies(["Content-Type: text/html"], status: status), "\(status)") }
  }

  @Test(
    "nothing that says it must not be, is coded already, or is a part",
    arguments: [
      "Cache-Control: no-transform", "Cache-Control: max-age=60, No-Transform", "Content-Encoding: gzip",
      "Content-Encoding: identity", "Content-Encoding: aes128gcm", "Content-Range: bytes */5000",
      "Content-Range: bytes 0-4999/5000",
    ])
  func forbidden(_ line: String) {
    #expect(!Self.applies(["Content-Type: text/html", line]))
    #expect(!Self.applies(["Content-Type: text/html", "Cache-Control: public", line]))
  }

  @Test("other directives do not forbid it; those of a request do so by the same word")
  func directives() {
    #expect(Self.applies(["Content-Type: text/html", "Cache-Control: private, no-store, max-age=0"]))
    #expect(CompressionRules.forbidsTransforming(Messages.fields(["Cache-Control: no-transform"])))
    #expect(!CompressionRules.forbidsTransforming(Messages.fields(["Cache-Control: no-cache"])))
    #expect(!CompressionRules.forbidsTransforming(Messages.fields(["Pragma: no-transform"])))
  }

  @Test(
    "what is to be saved as a file only where the rules say so",
    arguments: [
      ("attachment", true), ("Attachment; filename=\"a.csv\"", true), ("unknown; x=y", true), ("inline", false),
      ("INLINE; filename=a.txt", false),
    ])
  func attachments(_ value: String, _ isAttachment: Bool) {
    let lines = ["Content-Type: text/csv", "Content-Disposition: \(value)"]
    #expect(Self.applies(lines) == !isAttachment)
    #expect(Self.applies(lines, CompressionRules(attachments: true)))
  }
}
