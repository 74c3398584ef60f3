import PawlHTTP
import Testing

@testable import PawlUpload

/// Requests of tus for tests: `fields` are lines as on the wire.
private func post(_ fields: String) -> RequestHead { Draft.request("POST /files", "Tus-Resumable: 1.0.0\n" + fields) }
private func patch(_ fields: String) -> RequestHead {
  Draft.request(
    "PATCH /u", "Tus-Resumable: 1.0.0\nContent-Type: application/offset+octet-stream\nContent-Length: 5\n" + fields)
}

private func refusal(of head: RequestHead, _ read: (RequestHead) throws(UploadRefusal) -> Void) -> UploadRefusal? {
  do {
    try read(head)
    return nil
  } catch { return error }
}

private func isMalformed(_ refusal: UploadRefusal?) -> Bool {
  if case .malformed = refusal { return true }
  return false
}

@Suite("tus requests (tus 1.0.0)") struct TusRequestTests {
  @Test(
    "X-HTTP-Method-Override stands for POST, and for nothing else",
    arguments: [
      ("POST", "PATCH", Method.patch), ("POST", "DELETE", .delete), ("POST", "HEAD", .head), ("POST", "GET", .post),
      ("POST", "PUT", .post), ("POST", "patch", .post), ("GET", "DELETE", .get), ("HEAD", "PATCH", .head),
      ("POST", "PATCH\nX-HTTP-Method-Override: HEAD", .post), ("POST", "", .post),
    ])
  func override(_ method: String, _ name: String, _ expected: Method) {
    let head = Draft.request("\(method) /u", "X-HTTP-Method-Override: \(name)")
    #expect(TusRequest.effectiveMethod(head) == expected)
  }

  @Test("another version is refused, and so are two", arguments: ["0.2.2", "1.0.1", "1.0", "", "1.0.0, 1.0.0"])
  func versions(_ version: String) throws {
    for method in ["HEAD", "GET", "PATCH", "DELETE", "POST"] {
      let head = Draft.request("\(method) /u", "Tus-Resumable: \(version)")
      #expect(
        refusal(of: head, command) == .unsupportedTusVersion)
    }
    let post = Draft.request("POST /u", "Tus-Resumable: \(version)\nUpload-Length: 1")
    #expect(
      refusal(of: post, creation)
        == .unsupportedTusVersion)
    #expect(try TusRequest.command(Draft.request("OPTIONS /u", "Tus-Resumable: \(version)")) == .options)
  }

  @Test("is spoken where the version is named, right or wrong")
  func spoken() {
    #expect(TusRequest.isSpoken(post("")))
    #expect(TusRequest.isSpoken(Draft.request("POST /", "tus-resumable: 7")))
    #expect(!TusRequest.isSpoken(Draft.request("POST /", "Upload-Length: 7")))
    #expect(isMalformed(refusal(of: post("Tus-Resumable: 1.0.0\nUpload-Length: 1"), creation)))
  }

  @Test("the parts of a concatenation are known before anything else is judged, and of nothing else")
  func parts() {
    let final = "Tus-Resumable: 1.0.0\nUpload-Concat: final;/a https://x/b"
    let rows: [(String, String, Int?)] = [
      ("POST /u", final, 2), ("PUT /u", final, nil), ("POST /u", "Upload-Concat: final;/a", nil),
      ("POST /u", "Tus-Resumable: 1.0.0\nUpload-Concat: partial", nil), ("POST /u", "Tus-Resumable: 1.0.0", nil),
      ("POST /u", "Tus-Resumable: 1.0.0\nUpload-Concat: final;", nil),
      ("POST /u", final + "\nUpload-Concat: final;/c", nil),
    ]
    for (line, fields, count) in rows {
      #expect(TusRequest.parts(Draft.request(line, fields))?.count == count, "\(line) \(fields)")
    }
  }

  private func creation(_ head: RequestHead) throws(UploadRefusal) { _ = try TusRequest.creation(head) }
  private func command(_ head: RequestHead) throws(UploadRefusal) { _ = try TusRequest.command(head) }

  @Test(
    "a creation that is not understood is refused as malformed",
    arguments: [
      "", "Upload-Length: 5\nUpload-Defer-Length: 1", "Upload-Defer-Length: 0", "Upload-Defer-Length: 2",
      "Upload-Defer-Length: true", "Upload-Defer-Length:", "Upload-Defer-Length: 1\nUpload-Defer-Length: 1",
      "Upload-Length: -1", "Upload-Length: +5", "Upload-Length:", "Upload-Length: 5 5", "Upload-Length: 0x5",
      "Upload-Length: 5.0", "Upload-Length: 5, 5", "Upload-Length: 5\nUpload-Length: 5",
      "Upload-Length: 9223372036854775808", "Upload-Length: 18446744073709551616",
      "Upload-Length: 99999999999999999999",
      "Upload-Length: 5\nUpload-Concat: final;/a", "Upload-Defer-Length: 1\nUpload-Concat: final;/a",
      "Upload-Length: 5\nUpload-Concat: whole", "Upload-Length: 5\nUpload-Concat: partial\nUpload-Concat: partial",
      "Upload-Concat: partial", "Upload-Concat: final;", "Upload-Concat: final",
      "Upload-Length: 5\nUpload-Metadata: a b",
    ])
  func malformedCreations(_ fields: String) { #expect(isMalformed(refusal(of: post(fields), creation))) }

  @Test("a creation says length, metadata, part or whole")
  func creations() throws {
    var head = post("Upload-Length: 9223372036854775807\nUpload-Metadata: name YQ==\nUpload-Concat: partial")
    var creation = try TusRequest.creation(head)
    #expect(creation.length == UInt64(Int64.max))
    #expect(creation.metadata?.fileName == [0x61])
    #expect(creation.concat == .partial)
    #expect(!creation.completes && !creation.hasContent && !creation.isLengthDeferred)
    #expect(creation.contentLength == 0)

    creation = try TusRequest.creation(post("Upload-Defer-Length: 1"))
    #expect(creation.length == nil && creation.isLengthDeferred)

    creation = try TusRequest.creation(post("Upload-Concat: final;/a/1 /a/2\nContent-Length: 0"))
    #expect(creation.concat == .final([Array("/a/1".utf8), Array("/a/2".utf8)]))
    #expect(creation.length == nil && !creation.isLengthDeferred)

    creation = try TusRequest.creation(post("Upload-Length: 0"))
    #expect(creation.length == 0)

    head = post("Upload-Length: 5\nUpload-Metadata: a\nUpload-Metadata: b YQ==")
    #expect(try TusRequest.creation(head).metadata?.pairs.map(\.value) == [[], [0x61]])

    // tuspy sends the field where it has nothing to say.
    #expect(try TusRequest.creation(post("Upload-Length: 5\nUpload-Metadata:")).metadata == nil)
  }

  @Test("content has the type of tus; where there is none, no type and no checksum is wrong")
  func content() throws {
    let typed = "Content-Type: application/offset+octet-stream\n"
    var creation = try TusRequest.creation(post(typed + "Content-Length: 5\nUpload-Length: 9"))
    #expect(creation.hasContent && creation.contentLength == 5 && creation.length == 9)
    creation = try TusRequest.creation(post(typed + "Transfer-Encoding: chunked\nUpload-Length: 9"))
    #expect(creation.hasContent && creation.contentLength == nil)
    for empty in ["", "Content-Length: 0\n"] {
      for type in ["", typed, "Content-Type: application/json\n", "Upload-Checksum: sha1 nonsense\n"] {
        #expect(try !TusRequest.creation(post(empty + type + "Upload-Length: 9")).hasContent)
      }
    }
    let content = "Content-Length: 5\nUpload-Length: 9\n"
    #expect(refusal(of: post(content), self.creation) == .wrongMediaType)
    #expect(refusal(of: post(content + "Content-Type: application/octet-stream"), self.creation) == .wrongMediaType)
    #expect(refusal(of: post(typed + "Content-Length: 6\nUpload-Length: 5"), self.creation) == .tooLong)
    #expect(
      refusal(of: post(typed + "Content-Length: 6\nUpload-Concat: final;/a"), self.creation) == .modifiesFinal)
    #expect(
      refusal(of: post(typed + "Content-Length: 9223372036854775808\nUpload-Defer-Length: 1"), self.creation)
        == .tooLarge)
  }

  @Test("methods of an upload's URL")
  func commands() throws {
    for (method, expected) in [("HEAD", UploadCommand.inspect), ("GET", .readAnswer), ("DELETE", .cancel)] {
      #expect(try TusRequest.command(Draft.request("\(method) /u", "Tus-Resumable: 1.0.0")) == expected)
    }
    for (name, expected) in [("HEAD", UploadCommand.inspect), ("DELETE", .cancel)] {
      #expect(try TusRequest.command(post("X-HTTP-Method-Override: \(name)")) == expected)
    }
    for method in ["POST", "PUT", "TRACE", "MKCOL"] {
      #expect(refusal(of: Draft.request("\(method) /u", "Tus-Resumable: 1.0.0"), command) == .methodNotAllowed)
    }
  }

  @Test("a PATCH says where it goes on, and perhaps how long the whole is")
  func appends() throws {
    var expected = UploadAppend(offset: 7)
    (expected.contentLength, expected.hasContent) = (5, true)
    #expect(try TusRequest.command(patch("Upload-Offset: 7")) == .append(expected))
    expected.length = 12
    #expect(try TusRequest.command(patch("Upload-Offset: 7\nUpload-Length: 12")) == .append(expected))
    var overridden = patch("Upload-Offset: 7\nUpload-Length: 12\nX-HTTP-Method-Override: PATCH\nExpect: 100-continue")
    overridden.method = .post
    #expect(try TusRequest.command(overridden) == .append(expected))
    expected.digests.content = [DigestClaim(.crc32, [1, 2, 3, 4])]
    let digest = "Upload-Offset: 7\nUpload-Length: 12\nUpload-Checksum: crc32 AQIDBA=="
    #expect(try TusRequest.command(patch(digest)) == .append(expected))
    var empty = patch("Upload-Offset: 0")
    empty.framing = .none
    guard case .append(let append) = try TusRequest.command(empty) else { throw UploadRefusal.notFound }
    #expect(!append.hasContent && append.contentLength == 0)
  }

  @Test(
    "a PATCH that is not understood is refused as malformed",
    arguments: [
      "", "Upload-Offset:", "Upload-Offset: -1", "Upload-Offset: +1", "Upload-Offset: 1a", "Upload-Offset: 1;a",
      "Upload-Offset: 9223372036854775808", "Upload-Offset: 99999999999999999999", "Upload-Offset: 1\nUpload-Offset: 1",
      "Upload-Offset: 1\nUpload-Length: x", "Upload-Offset: 1\nContent-Type: application/offset+octet-stream",
      "Upload-Offset: 1\nUpload-Checksum: sha1",
    ])
  func malformedAppends(_ fields: String) { #expect(isMalformed(refusal(of: patch(fields), command))) }

  @Test("a PATCH of another type, or past a length it declares, is refused")
  func wrongAppends() {
    for type in ["", "Content-Type: application/octet-stream\n", "Content-Type: application/partial-upload\n"] {
      let head = Draft.request("PATCH /u", "Tus-Resumable: 1.0.0\n\(type)Upload-Offset: 0\nContent-Length: 1")
      #expect(refusal(of: head, command) == .wrongMediaType)
    }
    #expect(refusal(of: patch("Upload-Offset: 7\nUpload-Length: 6"), command) == .inconsistentLength)
    #expect(refusal(of: patch("Upload-Offset: 7\nUpload-Checksum: sha3 AQ=="), command) == .unknownDigest)
  }

  @Test("hostile fields are refused, or understood; nothing traps")
  func hostile() {
    var random = SystemRandomNumberGenerator()
    let names: [FieldName] = [
      .uploadLength, .uploadOffset, .uploadDeferLength, .uploadConcat, .uploadMetadata, .uploadChecksum, .trailer,
      .contentType, .xHTTPMethodOverride, .tusResumable,
    ]
    let words = [
      "1.0.0", "final;", "partial", "sha1 ", "application/offset+octet-stream", "1", "/a ", "PATCH", "=", ",",
    ]
    for _ in 0..<5_000 {
      var head = post("")
      head.framing = [.none, .length(.max), .length(3), .chunked].randomElement(using: &random) ?? .none
      for name in names where Bool.random(using: &random) {
        var value = Array((words.randomElement(using: &random) ?? "").utf8)
        value += (0..<Int.random(in: 0...8, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        head.fields.append(name, value)
      }
      _ = refusal(of: head, creation)
      head.method = [.post, .patch, .head].randomElement(using: &random) ?? .patch
      _ = refusal(of: head, command)
    }
  }
}
