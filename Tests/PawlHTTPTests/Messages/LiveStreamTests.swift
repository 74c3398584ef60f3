import PawlHTTP
import Testing

@Suite("Content that goes on as long as somebody listens") struct LiveStreamTests {
  private static func fields(_ name: FieldName, _ value: String) -> Fields {
    var fields = Fields()
    fields.append(name, Array(value.utf8))
    return fields
  }

  @Test(
    "is told by its type",
    arguments: [
      ("text/event-stream", true), ("Text/Event-Stream; charset=utf-8", true), ("text/event-stream;x", true),
      ("multipart/x-mixed-replace; boundary=a", true), ("text/event-streams", false), ("text/html", false),
      ("multipart/mixed", false), ("", false), ("application/octet-stream", false), ("x-text/event-stream", false),
    ])
  func type(_ type: String, _ expected: Bool) { #expect(LiveStream.isOne(Self.fields(.contentType, type)) == expected) }

  @Test(
    "is asked for as EventSource does",
    arguments: [
      ("text/event-stream", true), (" text/event-stream, */*;q=0.1", true), ("*/*", false), ("text/html", false),
    ])
  func wanted(_ accept: String, _ expected: Bool) {
    #expect(LiveStream.isWanted(Self.fields(.accept, accept)) == expected)
    #expect(!LiveStream.isWanted(Fields()) && !LiveStream.isOne(Fields()))
  }
}
