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

  @Test("lines are written as they are, those next to each other together, others in canonical form")
  func serialized() {
    let bytes = Array("A: 1\r\nHost:h \r\nB: 2\r\nC: 3\nD: 4".utf8)
    var parsed = Fields(
      storage: bytes,
      lines: [
        FieldLine(name: .other, nameRange: 0..<1, valueRange: 3..<4),
        FieldLine(name: .host, nameRange: 6..<10, valueRange: 11..<12),
        FieldLine(name: .other, nameRange: 15..<16, valueRange: 18..<19),
        FieldLine(name: .other, nameRange: 21..<22, valueRange: 24..<25),
        FieldLine(name: .other, nameRange: 26..<27, valueRange: 29..<30),
      ])
    #expect(parsed.description == "A: 1\r\nHost: h\r\nB: 2\r\nC: 3\r\nD: 4\r\n")
    parsed.append(.via, literal: "1.1 pawl")
    parsed.append(.xRequestID, [0x78])
    parsed.append(named: "X-Y".utf8, "".utf8)
    var output: [UInt8] = [0x3e]
    parsed.serialize(into: &output) { $0 == .host || $0 == .xRequestID }
    #expect(output == Array(">A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nVia: 1.1 pawl\r\nX-Y: \r\n".utf8))
  }

  @Test("what was removed is not found, what was put in again is, known or not")
  func removals() {
    var changed = message
    changed.removeAll(.accept)
    #expect(!changed.contains(.accept) && changed.count(of: .accept) == 0 && changed.all(.accept).isEmpty)
    changed.append(.accept, "d")
    #expect(changed.contains(.accept) && changed.only(.accept)?.text == "d")
    changed.removeAll(known: { $0 == .host }, others: { $0.equals("X-Foo") })
    #expect(changed.description == "x-foo: 2\r\nAccept: d\r\n")
    #expect(changed.contains(.other))
    changed.removeAll(.other)
    #expect(changed.description == "Accept: d\r\n" && !changed.contains(.other) && !changed.contains(.host))
  }

  @Test("lines of another message follow one's own as they stand there")
  func together() {
    var first = message
    var second = Fields()
    second.append(.via, literal: "1.1 pawl")
    second.append(.host, "b")
    second.removeAll(.via)
    first.append(second)
    #expect(first.description == message.description + "Host: b\r\n")
    #expect(first.all(.host).last?.text == "b" && !first.contains(.via))
    first.append(Fields())
    #expect(first.count == message.count + 1)
  }

  @Test("several names go at once, and none of them is found any more")
  func severalRemovals() {
    var changed = message
    let names = FieldNameSet([.accept, .host, .via])
    #expect(changed.mayContain(anyOf: names))
    changed.removeAll(anyOf: names)
    #expect(!changed.mayContain(anyOf: names) && !changed.contains(.accept) && changed.first(.host) == nil)
    let left = changed
    changed.removeAll(anyOf: names)
    #expect(changed == left && left.count == message.lines.count { $0.name != .accept && $0.name != .host })
  }

  @Test("a value is written in its place, and need not fill its room")
  func inPlace() {
    var fields = Fields()
    fields.append(.via, atMost: 20) {
      $0.put("1.1 "); $0.put(Array("pawl".utf8))
    }
    fields.append(.age, atMost: 20) { $0.put(decimal: 1205) }
    #expect(fields.description == "Via: 1.1 pawl\r\nAge: 1205\r\n" && fields.only(.age)?.strictDecimal == 1205)
  }
}
