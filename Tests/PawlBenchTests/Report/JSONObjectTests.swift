import PawlBase
import Testing

@testable import PawlBench

@Suite("Members of a JSON object") struct JSONObjectTests {
  private func object(_ text: String) throws -> JSONObject { try JSONObject(JSONParser.parse(Array(text.utf8)), "o") }

  @Test("are taken by name, in any order")
  func taken() throws {
    var object = try object(
      #"{"n":-1.5,"w":7,"s":"x","i":-3,"z":null,"l":[1],"f":{"a":1,"b":2},"e":[{"v":1},{"v":2}]}"#)
    #expect(try object.string("s") == "x" && object.whole("w") == 7 && object.number("n") == -1.5)
    #expect(try object.signed("i") == -3 && object.array("l").count == 1)
    #expect(try object.optional("z") { object throws(JSONFault) in try object.whole("z") } == nil)
    var counts = try object.object("f")
    #expect(try counts.takeCounts() == ["a": 1, "b": 2])
    #expect(try object.objects("e") { element throws(JSONFault) in try element.whole("v") } == [1, 2])
    try object.end()
    try counts.end()
  }

  @Test("that are missing, unknown, doubled or of another kind are named with their place")
  func faults() throws {
    #expect(throws: JSONFault(place: 0, reason: "o.a is missing")) {
      var object = try object("{}")
      _ = try object.whole("a")
    }
    #expect(throws: JSONFault(place: 1, reason: "o.b is not known")) { try object(#"{"b":1,"c":2}"#).end() }
    #expect(throws: JSONFault(place: 7, reason: "o.a stands here twice")) { _ = try object(#"{"a":1,"a":1}"#) }
    #expect(throws: JSONFault(place: 0, reason: "o must be an object")) { _ = try object("[]") }
    for (text, reason) in [("1.5", "a whole number"), ("-1", "a whole number"), ("\"1\"", "a whole number")] {
      #expect(throws: JSONFault(place: 5, reason: "o.a must be \(reason)")) {
        var object = try object("{\"a\":\(text)}")
        _ = try object.whole("a")
      }
    }
    #expect(throws: JSONFault(place: 5, reason: "o.a must be a number")) {
      var object = try object(#"{"a":1e999}"#)
      _ = try object.number("a")
    }
    #expect(throws: JSONFault(place: 11, reason: "o.e[0].v must be a string")) {
      var object = try object(#"{"e":[{"v":1}]}"#)
      _ = try object.objects("e") { element throws(JSONFault) in try element.string("v") }
    }
    #expect(throws: JSONFault(place: 13, reason: "o.e[0].x is not known")) {
      var object = try object(#"{"e":[{"v":1,"x":1}]}"#)
      _ = try object.objects("e") { element throws(JSONFault) in try element.whole("v") }
    }
  }
}
