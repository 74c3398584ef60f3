import PawlHTTP
import Testing

@testable import PawlUpload

/// What a request is, as a line that a table can hold.
private func kind(_ head: RequestHead, allowsFinal: Bool = false, minResumable: UInt64 = 100) -> String {
  let policy = DispatchPolicy(
    uploadPrefix: Array("/.pawl/uploads/".utf8), minResumable: minResumable, allowsFinal: allowsFinal)
  func name(_ speech: UploadProtocol) -> String {
    switch speech {
    case .ietf(let version): "\(version.number)"
    case .tus: "tus"
    }
  }
  switch UploadDispatch.kind(of: head, policy) {
  case .plain: return "plain"
  case .foreign: return "foreign"
  case .small: return "small"
  case .discovery: return "discovery"
  case .creation(let creation, let speech): return "creation \(name(speech)) \(creation.completes ? "?1" : "?0")"
  case .resource(let token, let command, let speech):
    return "\(token == nil ? "nothing" : "upload") \(name(speech)) \("\(command)".prefix { $0 != "(" })"
  case .refused(let refusal, let speech, let token):
    return "refused \(name(speech)) \("\(refusal)".prefix { $0 != "(" })\(token == nil ? "" : " upload")"
  }
}

@Suite("Dispatch (UploadProtocols, \"Dispatch order\")") struct UploadDispatchTests {
  private static let last = "Upload-Draft-Interop-Version: 6\nUpload-Complete: ?1\n"

  @Test(
    "of creations by any method that may have content",
    arguments: [
      ("POST", "creation 6 ?1"), ("PUT", "creation 6 ?1"), ("PATCH", "creation 6 ?1"), ("MOVE", "creation 6 ?1"),
      ("post", "creation 6 ?1"), ("GET", "plain"), ("HEAD", "plain"), ("DELETE", "plain"), ("TRACE", "plain"),
      ("OPTIONS", "plain"),
    ])
  func methods(_ method: String, _ expected: String) {
    #expect(kind(Draft.request("\(method) /any/target?q", Self.last + "Content-Length: 100")) == expected)
  }

  @Test("of creations in each version, spelled as the version spells it", arguments: 3...11)
  func versions(_ number: Int) {
    let version = number == 11 ? "" : "Upload-Draft-Interop-Version: \(number)\n"
    for (field, isUnderstood, completes) in [
      ("Upload-Complete: ?1", number != 3, true), ("Upload-Complete: ?0", number != 3, false),
      ("Upload-Incomplete: ?0", number == 3, true), ("Upload-Incomplete: ?1", number == 3, false),
      ("Upload-Complete: 1", false, true), ("Upload-Complete: true", false, true),
      ("Upload-Incomplete: 0", false, true),
      ("Upload-Complete: ?1\nUpload-Complete: ?1", false, true), ("X: y", false, true),
    ] {
      for framing in ["Transfer-Encoding: chunked", "Content-Length: 5000"] {
        let head = Draft.request("POST /f", version + field + "\n" + framing)
        let creation = "creation \(number) \(completes ? "?1" : "?0")"
        #expect(kind(head, allowsFinal: true) == (isUnderstood ? creation : "plain"), "\(field)")
        if number == 11 { #expect(kind(head) == "plain") }
      }
    }
  }

  @Test(
    "leaves other versions to the origin",
    arguments: ["2", "11", "0", "-3", "x", "6.0", "6, 6", "\"6\"", "", "6\nUpload-Draft-Interop-Version: 6"])
  func otherVersions(_ value: String) {
    let lines = "Upload-Draft-Interop-Version: \(value)\nUpload-Complete: ?0\nUpload-Incomplete: ?1\n"
    #expect(kind(Draft.request("POST /f", lines), allowsFinal: true) == "plain")
    #expect(
      kind(Draft.request("HEAD /.pawl/uploads/\(Draft.token)", "Upload-Draft-Interop-Version: \(value)"))
        == "upload 12 inspect")
  }

  @Test(
    "passes on what is small and said to be all",
    arguments: [
      ("Content-Length: 99", "small"), ("Content-Length: 100", "creation 6 ?1"), ("X: y", "small"),
      ("Content-Length: 99\nUpload-Length: 99", "small"), ("Transfer-Encoding: chunked", "creation 6 ?1"),
      ("Transfer-Encoding: chunked\nUpload-Length: 9", "creation 6 ?1"),
      ("Content-Length: 9\nUpload-Length: 8", "refused 6 inconsistentLength"),
      ("Content-Length: 9\nUpload-Offset: 8", "refused 6 malformed"),
    ])
  func small(_ lines: String, _ expected: String) {
    #expect(kind(Draft.request("POST /f", Self.last + lines)) == expected)
  }

  @Test("never takes what may be continued for small")
  func notSmall() {
    let lines = "Upload-Draft-Interop-Version: 6\nUpload-Complete: ?0\nContent-Length: 0\nUpload-Length: 5"
    #expect(kind(Draft.request("POST /f", lines)) == "creation 6 ?0")
    #expect(kind(Draft.request("POST /f", "Tus-Resumable: 1.0.0\nUpload-Length: 5")) == "creation tus ?0")
    #expect(kind(Draft.request("POST /f", Self.last), minResumable: 0) == "creation 6 ?1")
  }

  @Test("takes a request in both protocols for tus, whose clients ride on URLSession")
  func both() {
    let lines = Self.last + "Tus-Resumable: 1.0.0\nUpload-Length: 500"
    #expect(kind(Draft.request("POST /f", lines)) == "creation tus ?0")
    #expect(kind(Draft.request("HEAD /.pawl/uploads/\(Draft.token)", lines)).hasPrefix("upload tus"))
  }

  @Test(
    "leaves the origin's own uploads alone",
    arguments: [
      ("PATCH /files/7", "Tus-Resumable: 1.0.0\nUpload-Offset: 0"), ("HEAD /files/7", "Tus-Resumable: 1.0.0"),
      ("DELETE /files/7", "Tus-Resumable: 1.0.0"),
      ("POST /files/7", "Tus-Resumable: 1.0.0\nX-HTTP-Method-Override: PATCH\nUpload-Offset: 0"),
      ("PATCH /files/7", last + "Upload-Offset: 0"), ("PATCH /files/7", last + "Upload-Offset: 5"),
      ("HEAD /files/7", "Upload-Draft-Interop-Version: 6"), ("DELETE /files/7", "Upload-Draft-Interop-Version: 6"),
    ])
  func others(_ line: String, _ lines: String) { #expect(kind(Draft.request(line, lines)) == "plain") }

  @Test("joins OPTIONS on a target, but not on the server, nor with completeness")
  func discovery() {
    #expect(kind(Draft.request("OPTIONS /f")) == "discovery")
    #expect(kind(Draft.request("OPTIONS /f", "Tus-Resumable: 1.0.0")) == "discovery")
    #expect(kind(Draft.request("OPTIONS /f", "Origin: https://a\nAccess-Control-Request-Method: PATCH")) == "discovery")
    #expect(kind(Draft.request("OPTIONS *")) == "plain")
    #expect(kind(Draft.request("OPTIONS /f", "Upload-Complete: ?0")) == "plain")
    #expect(kind(Draft.request("OPTIONS /v2/n/blobs/uploads/")) == "foreign")
  }

  @Test("does not spool what asks to be passed on as it comes")
  func incremental() {
    #expect(kind(Draft.request("POST /f", "Incremental: ?1")) == "foreign")
    #expect(kind(Draft.request("POST /f", "Incremental: ?0")) == "plain")
    #expect(kind(Draft.request("POST /f", Self.last + "Content-Length: 100\nIncremental: ?1")) == "creation 6 ?1")
  }
}

@Suite("Dispatch below the upload prefix (UploadProtocols, \"Dispatch order\")") struct UploadResourceDispatchTests {
  @Test(
    "knows an upload's URL by its token",
    arguments: [
      ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "upload"), ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA?x=y", "upload"),
      ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "nothing"), ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "nothing"),
      ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%41", "nothing"), ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/", "nothing"),
      ("", "nothing"), ("?AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "nothing"), ("../../f", "nothing"),
    ])
  func tokens(_ rest: String, _ expected: String) {
    #expect(kind(Draft.request("HEAD /.pawl/uploads/\(rest)")) == "\(expected) 12 inspect")
    #expect(kind(Draft.request("OPTIONS /.pawl/uploads/\(rest)")) == "\(expected) 12 options")
    #expect(kind(Draft.request("HEAD /.pawl/uploads/\(rest)"), allowsFinal: true) == "\(expected) 11 inspect")
  }

  @Test(
    "forwards nothing, whatever it is",
    arguments: [
      ("POST", "Content-Length: 5", "refused 12 methodNotAllowed upload", "nothing 12 inspect"),
      ("PUT", "Content-Range: bytes 0-4/5", "refused 12 methodNotAllowed upload", "nothing 12 inspect"),
      ("GET", "Upgrade: websocket", "upload 12 inspect", "nothing 12 inspect"),
      ("PATCH", "X: y", "refused 12 wrongMediaType upload", "nothing 12 inspect"),
      (
        "PATCH", "Content-Type: application/partial-upload\nUpload-Offset: 0", "refused 12 malformed upload",
        "nothing 12 inspect"
      ),
      (
        "PATCH", "Content-Type: application/partial-upload\nUpload-Offset: 0\nUpload-Complete: ?1",
        "upload 12 append", "nothing 12 append"
      ),
      ("DELETE", "Authorization: AWS4-HMAC-SHA256 x", "upload 12 cancel", "nothing 12 cancel"),
      ("PATCH", "Upload-Draft-Interop-Version: 3\nUpload-Offset: 0", "upload 3 append", "nothing 3 append"),
      ("HEAD", "Upload-Draft-Interop-Version: 6\nUpload-Offset: 0", "refused 6 malformed upload", "nothing 6 inspect"),
      ("HEAD", "Upload-Draft-Interop-Version: 7\nUpload-Offset: 0", "upload 7 inspect", "nothing 7 inspect"),
    ])
  func commands(_ method: String, _ lines: String, _ expected: String, _ unknown: String) {
    #expect(kind(Draft.request("\(method) /.pawl/uploads/\(Draft.token)", lines)) == expected)
    #expect(kind(Draft.request("\(method) /.pawl/uploads/other", lines)) == unknown)
  }

  @Test("ends where the prefix ends")
  func prefix() {
    #expect(kind(Draft.request("HEAD /.pawl/uploads")) == "plain")
    #expect(kind(Draft.request("HEAD /.pawl/uploadsX/\(Draft.token)")) == "plain")
    #expect(kind(Draft.request("HEAD /x?/.pawl/uploads/\(Draft.token)")) == "plain")
  }
}
