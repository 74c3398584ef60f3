import PawlCache
import PawlHTTP
import Testing

@Suite("Invalidation (RFC 9111 §4.4)") struct InvalidationTargetsTests {
  @Test(
    "follows unsafe methods that succeeded",
    arguments: [
      (.post, 200, ["/dir/file"]), (.put, 204, ["/dir/file"]), (.delete, 303, ["/dir/file"]),
      (.patch, 201, ["/dir/file"]),
      (.other(Array("M-SEARCH".utf8)), 200, ["/dir/file"]), (.post, 500, []), (.post, 404, []), (.post, 199, []),
      (.get, 200, []), (.head, 200, []), (.options, 200, []), (.trace, 200, []),
    ] as [(Method, Int, [String])])
  func methods(_ method: Method, _ status: Int, _ expected: [String]) {
    let targets = invalidationTargets(
      request: Messages.request(method: method), response: Messages.response([], status: status))
    #expect(targets == expected.map { Bytes($0) })
  }

  @Test(
    "reaches Location and Content-Location with the same authority",
    arguments: [
      ("/other", "/other"), ("other", "/dir/other"), ("?b", "/dir/file?b"), ("./other", "/dir/other"),
      ("../other", "/other"),
      ("../../../other", "/other"), ("other/.", "/dir/other/"), ("a/b/../c?x=../y", "/dir/a/c?x=../y"), ("..", "/"),
      ("http://example.org/x", "/x"), ("https://EXAMPLE.org/x?y", "/x?y"), ("//example.org/x", "/x"),
      ("http://example.org", "/"), ("http://example.org?q", "/?q"), ("/x#fragment", "/x"), ("#fragment", nil),
      ("", nil),
      ("http://other.org/x", nil), ("//other.org/x", nil), ("http://example.org:81/x", nil),
      ("ftp://example.org/x", nil),
      ("mailto:a@example.org", nil), ("http:x", nil), ("/a b", nil), ("/ä", nil), ("/dir/file", nil),
      ("/a//b", "/a//b"),
    ] as [(String, String?)])
  func locations(_ reference: String, _ expected: String?) {
    for name in ["Location", "Content-Location"] {
      let targets = invalidationTargets(
        request: Messages.request(method: .post, target: "/dir/file?a"),
        response: Messages.response(["\(name): \(reference)"], status: 201))
      let others = reference == "/dir/file" ? "/dir/file" : expected
      #expect(targets == [Bytes("/dir/file?a")] + (others.map { [Bytes($0)] } ?? []))
    }
  }

  @Test("names a target once, and ignores a field that stands twice")
  func duplicates() {
    let request = Messages.request(method: .post)
    let both = Messages.response(["Location: /x", "Content-Location: /x"])
    #expect(invalidationTargets(request: request, response: both) == [Bytes("/dir/file"), Bytes("/x")])
    let twice = Messages.response(["Location: /x", "Location: /y"])
    #expect(invalidationTargets(request: request, response: twice) == [Bytes("/dir/file")])
  }

  @Test(
    "what works on a collection reaches all below it, and what is below where it is brought",
    arguments: [
      (.delete, 204, nil, ["/dir/file/"]), (.delete, 404, nil, []), (.put, 201, nil, []), (.post, 200, nil, []),
      (.patch, 200, nil, []), (.get, 200, nil, []),
      (.other(Array("MOVE".utf8)), 201, "/to", ["/dir/file/", "/to/"]),
      (.other(Array("COPY".utf8)), 207, "http://example.org/to/?x", ["/dir/file/", "/to/"]),
      (.other(Array("MOVE".utf8)), 201, "http://other.org/to", ["/dir/file/"]),
      (.other(Array("PROPFIND".utf8)), 207, nil, []), (.other(Array("LOCK".utf8)), 200, nil, []),
      (.other(Array("PROPPATCH".utf8)), 207, nil, []), (.other(Array("UPDATE".utf8)), 200, nil, ["/dir/file/"]),
      (.delete, 204, "/to", ["/dir/file/"]),
      (.other(Array("MOVE".utf8)), 201, "/caf%c3%a9/", ["/dir/file/", "/caf%C3%A9/"]),
      (.other(Array("COPY".utf8)), 201, "/%64ir/fil%65", ["/dir/file/"]),
    ] as [(Method, Int, String?, [String])])
  func trees(_ method: Method, _ status: Int, _ destination: String?, _ expected: [String]) {
    var request = Messages.request(method: method)
    if let destination { request.fields.append(named: Array("Destination".utf8), Array(destination.utf8)) }
    let trees = outdatedTrees(request: request, response: Messages.response([], status: status))
    #expect(trees == expected.map { Bytes($0) })
  }

  @Test("a target goes by all the spellings that are in use for it")
  func spellings() {
    let request = Messages.request(method: .put, target: "/caf%c3%a9")
    let answer = Messages.response(["Location: /%64", "Content-Location: /caf%C3%A9"], status: 201)
    #expect(
      invalidationTargets(request: request, response: answer)
        == ["/caf%c3%a9", "/caf%C3%A9", "/%64", "/d"].map { Bytes($0) })
  }

  @Test("a destination is a target, too; asking changes nothing")
  func webDAV() {
    var request = Messages.request(method: .other(Array("MOVE".utf8)))
    request.fields.append(named: Array("Destination".utf8), Array("/to".utf8))
    let answer = Messages.response([], status: 204)
    #expect(invalidationTargets(request: request, response: answer) == [Bytes("/dir/file"), Bytes("/to")])
    for method in ["PROPFIND", "REPORT", "SEARCH", "QUERY"] {
      let request = Messages.request(method: .other(Array(method.utf8)))
      #expect(invalidationTargets(request: request, response: answer) == [])
    }
  }
}
