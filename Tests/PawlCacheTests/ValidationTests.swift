import PawlCache
import PawlHTTP
import Testing

@Suite("Validation (RFC 9111 §4.3.1)") struct ValidationTests {
  @Test(
    "asks with the validators the origin gave, and with nothing of the client's",
    arguments: [
      (["ETag: \"a\""], ["If-None-Match: \"a\""]), (["ETag: W/\"a\""], ["If-None-Match: W/\"a\""]), ([], []),
      (["ETag: no tag"], []), (["ETag: \"a\"", "ETag: \"b\""], []), (["Last-Modified: garbage"], []),
      (
        ["Last-Modified: Saturday, 21-Nov-26 09:59:00 GMT", "ETag: \"a\""],
        ["If-None-Match: \"a\"", "If-Modified-Since: Saturday, 21-Nov-26 09:59:00 GMT"]
      ),
    ] as [([String], [String])])
  func conditions(_ stored: [String], _ expected: [String]) {
    var fields = Messages.fields([
      "Accept: */*", "If-None-Match: \"p-0\"", "If-Match: *", "If-Modified-Since: x", "If-Unmodified-Since: x",
      "Range: bytes=0-1", "If-Range: \"p-0\"", "Test-ID: 1",
    ])
    let head = Messages.stored(stored)
    head.makeConditional(&fields)
    #expect(fields == Messages.fields(["Accept: */*", "Test-ID: 1"] + expected))
    #expect(head.canBeValidated == !expected.isEmpty)
  }
}
