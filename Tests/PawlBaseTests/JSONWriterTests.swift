import Testing

@testable import PawlBase

@Suite("Writing JSON (RFC 8259)") struct JSONWriterTests {
  @Test("puts commas between members and elements, and nowhere else")
  func commas() {
    var json = JSONWriter()
    json.object {
      $0.member("a", 1)
      $0.member("b", "x")
      $0.member("none", nil as String?)
      $0.member("nothing", nil as Int?)
      $0.member("c", true)
      $0.member(
        "d",
        array: {
          $0.value(-1); $0.value(false); $0.null(); $0.object { _ in }
        })
      $0.member("e", object: { $0.member("f", ["y", "z"]) })
      $0.member("g", array: { _ in })
      $0.member("t", thousandths: -1_005)
      $0.member("u", thousandths: 70)
    }
    #expect(
      json.text
        == #"{"a":1,"b":"x","none":null,"nothing":null,"c":true,"d":[-1,false,null,{}],"e":{"f":["y","z"]},"g":[],"t":-1.005,"u":0.070}"#
    )
  }

  @Test("escapes what a string may not have, and nothing else")
  func escapes() throws {
    var json = JSONWriter()
    json.value("\u{0}\u{1f}\n\"\\/é🦊\u{7f}")
    #expect(json.text == #""\u0000\u001f\u000a\"\\/é🦊\u007f""#)
    #expect(try JSONParser.parse(json.bytes).content == .string("\u{0}\u{1f}\n\"\\/é🦊\u{7f}"))
    #expect(json.line.last == 0x0a)
  }
}
