import PawlHTTP
import Testing

@Suite("Fields (RFC 9110 §5)") struct FieldsTests {
  private let message = fields(("Accept", "a"), ("X-Foo", "1"), ("accept", "b"), ("x-foo", "2"), ("Host", "h"))

  @Test("are found by name in any case, known or not") func lookup() {
    #expect(message.count == 5)
    #expect(message.first(.accept)?.text == "a")
    #expect(message.all(.accept).map(\.text) == ["a", "b"])
    #expect(message.all(named: "X-FOO".utf8).map(\.text) == ["1", "2"])
    #expect(message.only(.host)?.text == "h")
    #expect(message.only(.accept) == nil)
    #expect(message.only(.range) == nil)
    #expect(message.count(of: .accept) == 2)
    #expect(message.contains(.host) && !message.contains(.range))
  }

  @Test("several lines are one list") func combined() {
    #expect(message.combined(.accept)?.text == "a, b")
    #expect(message.combined(named: "x-foo".utf8)?.text == "1, 2")
    #expect(message.combined(.host)?.text == "h")
    #expect(message.combined(.range) == nil)
  }

  @Test("are changed and written in order") func changes() {
    var changed = message
    changed.set(.accept, "c")
    changed.removeAll { name, spelling, value in name == .other && spelling.equals("x-foo") && value.equals("2") }
    changed.append(.via, "1.1 pawl")
    #expect(changed.description == "X-Foo: 1\r\nHost: h\r\nAccept: c\r\nVia: 1.1 pawl\r\n")
    changed.removeAll(.host)
    #expect(!changed.contains(.host))
  }

  @Test("are equal in spelling, value and order, whatever was removed before") func equality() {
    var longer = fields(("A", "1"), ("B", "2"))
    longer.removeAll { _, spelling, _ in spelling.equals("A") }
    #expect(longer == fields(("B", "2")))
    #expect(fields(("B", "2")) != fields(("b", "2")))
    #expect(fields(("A", "1"), ("B", "2")) != fields(("B", "2"), ("A", "1")))
  }
}
