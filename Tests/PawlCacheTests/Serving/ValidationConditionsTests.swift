import PawlCache
import PawlHTTP
import Testing

@Suite("Validation (RFC 9111 §4.3.1)") struct ValidationConditionsTests {
  @Test(
    "asks with the validators the origin gave, as it wrote them",
    arguments: [
      (["ETag: \"a\""], ["If-None-Match: \"a\""]), (["ETag: W/\"a\""], ["If-None-Match: W/\"a\""]), ([], []),
      (["ETag: no tag"], []), (["ETag: \"a\"", "ETag: \"b\""], []), (["Last-Modified: garbage"], []),
      (
        ["Last-Modified: Saturday, 21-Nov-26 09:59:00 GMT", "ETag: \"a\""],
        ["If-None-Match: \"a\"", "If-Modified-Since: Saturday, 21-Nov-26 09:59:00 GMT"]
      ),
    ] as [([String], [String])])
  func conditions(_ stored: [String], _ expected: [String]) {
    let head = Messages.stored(stored)
    var fields = Fields()
    for (name, value) in head.conditions { fields.append(name, value) }
    #expect(fields == Messages.fields(expected))
    #expect(head.canBeValidated == !expected.isEmpty)
  }
}
