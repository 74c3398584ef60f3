import PawlHTTP
import Testing

@Suite("Patterns of media types") struct MediaTypePatternTests {
  @Test(
    "match whole types, without case",
    arguments: [
      ("text/html", "text/html", true), ("Text/HTML", "tEXT/html", true), ("text/html", "text/htmlx", false),
      ("text/html", "text/htm", false), ("text/html", "", false), ("text/*", "text/x-anything", true),
      ("text/*", "TEXT/css", true), ("text/*", "text/", false), ("text/*", "context/css", false),
      ("text/*", "text", false), ("application/*+json", "application/ld+json", true),
      ("application/*+json", "application/LD+JSON", true), ("application/*+json", "application/json", false),
      ("application/*+json", "application/+json", false), ("application/*+json", "application/a+jsonp", false),
      ("application/*+json", "text/a+json", false), ("application/*+json", "application/a+b+json", true),
    ])
  func matching(_ pattern: String, _ type: String, _ expected: Bool) {
    #expect(MediaTypePattern(pattern).matches(Bytes(within: type)) == expected)
  }

  @Test("without a star are exact")
  func exact() {
    #expect(MediaTypePattern("text/event-stream").isExact)
    #expect(!MediaTypePattern("text/*").isExact && !MediaTypePattern("application/*+xml").isExact)
  }

  @Test("the media type of a message is what stands before its parameters")
  func mediaType() {
    #expect(fields(("content-type", "Text/HTML ;charset=utf-8")).mediaType?.text == "Text/HTML")
    #expect(fields(("content-type", "text/css")).mediaType?.text == "text/css")
    #expect(fields(("content-type", "")).mediaType?.text == "")
    #expect(Fields().mediaType == nil)
  }
}
