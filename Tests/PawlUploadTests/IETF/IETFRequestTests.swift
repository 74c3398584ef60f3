import PawlHTTP
import Testing

@testable import PawlUpload

/// What became of a request: a line that a table can hold.
private func outcome(_ head: RequestHead, _ number: Int) -> String {
  do {
    switch try IETFRequest.command(head, Draft.version(number)) {
    case .inspect: return "inspect"
    case .readAnswer: return "readAnswer"
    case .cancel: return "cancel"
    case .options: return "options"
    case .append(let append):
      return "at \(append.offset) \(append.completes ? "last" : "more") of \(append.length.map { "\($0)" } ?? "?")"
    }
  } catch {
    return name(error)
  }
}

private func name(_ refusal: UploadRefusal) -> String {
  if case .malformed = refusal { return "400" }
  return "\(refusal)"
}

@Suite("Requests to an upload (UploadProtocols, \"Offset retrieval\", \"Append\", \"Discovery and cancellation\")")
struct IETFRequestTests {
  @Test("HEAD and DELETE with the state of an upload are refused up to version 6, and pass since", arguments: 3...12)
  func strayFields(_ number: Int) {
    for (method, meaning) in [("HEAD", "inspect"), ("GET", "inspect"), ("DELETE", "cancel")] {
      for field in ["Upload-Offset: 0", "Upload-Complete: ?0", "Upload-Incomplete: ?1", "Upload-Complete: x"] {
        #expect(outcome(Draft.request("\(method) /u", field), number) == (number <= 6 ? "400" : meaning))
      }
      let length = number == 6 && method != "DELETE"
      #expect(outcome(Draft.request("\(method) /u", "Upload-Length: 5"), number) == (length ? "400" : meaning))
      let others = "Content-Length: 0\nContent-Type: video/mp4\nAuthorization: Bearer x\nUpload-Metadata: a"
      #expect(outcome(Draft.request("\(method) /u", others), number) == meaning)
    }
  }

  @Test("OPTIONS is answered, and what an upload does not know is refused", arguments: 3...12)
  func methods(_ number: Int) {
    #expect(outcome(Draft.request("OPTIONS /u", "Upload-Complete: ?1"), number) == "options")
    for method in ["POST", "PUT", "TRACE", "MOVE", "patch"] {
      #expect(outcome(Draft.request("\(method) /u", "Upload-Offset: 0"), number) == "methodNotAllowed")
    }
  }

  @Test("PATCH needs its media type from version 6 on, in any case and with any parameters", arguments: 3...12)
  func mediaType(_ number: Int) {
    let complete = number == 3 ? "Upload-Incomplete: ?1" : "Upload-Complete: ?0"
    for (type, isRight) in [
      ("Content-Type: application/partial-upload", true), ("Content-Type: Application/Partial-Upload", true),
      ("Content-Type: application/partial-upload; a=b", true), ("content-type: application/partial-upload ;a", true),
      ("Content-Type: video/mp4", false), ("Content-Type: application/partial-uploads", false), ("X: y", false),
      ("Content-Type: application/offset+octet-stream", false), ("Content-Type:", false),
      ("Content-Type: application/partial-upload\nContent-Type: application/partial-upload", false),
    ] {
      let head = Draft.request("PATCH /u", "\(type)\nUpload-Offset: 5\n\(complete)")
      #expect(outcome(head, number) == (isRight || number < 6 ? "at 5 more of ?" : "wrongMediaType"), "\(type)")
    }
  }

  @Test("PATCH without completeness is the last one up to version 6, and refused since", arguments: 3...12)
  func omission(_ number: Int) {
    let head = patch("Upload-Offset: 5\nContent-Length: 3")
    #expect(outcome(head, number) == (number <= 6 ? "at 5 last of 8" : "400"))
  }

  @Test("completeness that says nothing, or in another version's words, ends no upload", arguments: 3...12)
  func unclear(_ number: Int) {
    let (own, other) =
      number == 3 ? ("Upload-Incomplete", "Upload-Complete") : ("Upload-Complete", "Upload-Incomplete")
    for lines in [
      "\(own): true", "\(own): 1", "\(own): ?0\n\(own): ?0", "\(own):", "\(other): ?0", "\(other): ?1",
    ] {
      #expect(outcome(patch("Upload-Offset: 5\n\(lines)"), number) == "400", "\(lines)")
    }
  }

  @Test("completeness is inverted in version 3 alone", arguments: 3...12)
  func completeness(_ number: Int) {
    let (own, last, more) = number == 3 ? ("Upload-Incomplete", "?0", "?1") : ("Upload-Complete", "?1", "?0")
    #expect(outcome(patch("Upload-Offset: 5\n\(own): \(last);x=y\nContent-Length: 3"), number) == "at 5 last of 8")
    #expect(outcome(patch("Upload-Offset: 5\n\(own): \(more)\nContent-Length: 3"), number) == "at 5 more of ?")
    #expect(outcome(patch("Upload-Offset: 5\n\(own): \(last)"), number) == "at 5 last of 5")
    let chunked = "Transfer-Encoding: chunked"
    #expect(outcome(patch("Upload-Offset: 5\n\(own): \(last)\n\(chunked)"), number) == "at 5 last of ?")
  }

  @Test(
    "PATCH needs an offset that is a number",
    arguments: [
      "X: y", "Upload-Offset: -1", "Upload-Offset: x", "Upload-Offset: 1000000000000000", "Upload-Offset: 5, 5",
    ])
  func offset(_ line: String) {
    for number in 3...12 {
      #expect(outcome(patch("\(line)\nUpload-Complete: ?1"), number) == "400")
    }
    #expect(outcome(patch("Upload-Offset: 5;a=b\nUpload-Complete: ?0"), 9) == "at 5 more of ?")
    #expect(outcome(patch("Upload-Offset: 5\nUpload-Offset: 5\nUpload-Complete: ?0"), 9) == "400")
  }

  @Test(
    "lengths that are declared must agree",
    arguments: [
      ("Upload-Complete: ?1\nContent-Length: 3\nUpload-Length: 8", "at 5 last of 8"),
      ("Upload-Complete: ?1\nContent-Length: 3\nUpload-Length: 9", "inconsistentLength"),
      ("Upload-Complete: ?1\nContent-Length: 3\nUpload-Length: 7", "inconsistentLength"),
      ("Upload-Complete: ?0\nContent-Length: 3\nUpload-Length: 8", "at 5 more of 8"),
      ("Upload-Complete: ?0\nContent-Length: 3\nUpload-Length: 80", "at 5 more of 80"),
      ("Upload-Complete: ?0\nContent-Length: 3\nUpload-Length: 7", "inconsistentLength"),
      ("Upload-Complete: ?0\nTransfer-Encoding: chunked\nUpload-Length: 4", "inconsistentLength"),
      ("Upload-Complete: ?1\nTransfer-Encoding: chunked\nUpload-Length: 8", "at 5 last of 8"),
      ("Upload-Complete: ?1\nContent-Length: 3\nUpload-Length: x", "at 5 last of 8"),
      ("Upload-Complete: ?1\nContent-Length: 18446744073709551615", "400"),
    ])
  func lengths(_ lines: String, _ expected: String) {
    for number in 6...12 { #expect(outcome(patch("Upload-Offset: 5\n\(lines)"), number) == expected) }
  }

  @Test("Upload-Length means nothing before version 5")
  func noLength() {
    let head = patch("Upload-Offset: 5\nUpload-Complete: ?1\nContent-Length: 3\nUpload-Length: 100")
    #expect(outcome(head, 4) == "at 5 last of 8")
    #expect(outcome(head, 5) == "inconsistentLength")
  }

  @Test("an append knows its content and its digests")
  func content() throws {
    func append(_ lines: String) throws -> UploadAppend? {
      guard case .append(let append) = try IETFRequest.command(patch(lines), Draft.version(9)) else { return nil }
      return append
    }
    let empty = try append("Upload-Offset: 5\nUpload-Complete: ?1\nContent-Length: 0")
    #expect(empty?.hasContent == false && empty?.contentLength == 0)
    let full = try append("Upload-Offset: 5\nUpload-Complete: ?1\nContent-Length: 1\nContent-Digest: sha-256=:YWJj:")
    #expect(full?.hasContent == true && full?.contentLength == 1 && full?.digests.content.count == 1)
    let open = try append("Upload-Offset: 5\nUpload-Complete: ?1\nTransfer-Encoding: chunked")
    #expect(open?.hasContent == true && open?.contentLength == nil)
  }

  private func patch(_ lines: String) -> RequestHead {
    Draft.request("PATCH /u", "Content-Type: application/partial-upload\n" + lines)
  }
}

@Suite("Creations (UploadProtocols, \"Creation\", \"Versions\")") struct IETFCreationTests {
  @Test(
    "tell what they know of the length",
    arguments: [
      ("Content-Length: 8", true, "8 of 8"), ("Content-Length: 8", false, "8 of ?"), ("X: y", true, "0 of 0"),
      ("X: y", false, "0 of ?"), ("Transfer-Encoding: chunked", true, "? of ?"),
      ("Transfer-Encoding: chunked\nUpload-Length: 8", true, "? of 8"), ("Upload-Length: 8", false, "0 of 8"),
      ("Content-Length: 8\nUpload-Length: 8", true, "8 of 8"), ("Content-Length: 8\nUpload-Length: 9", false, "8 of 9"),
      ("Content-Length: 8\nUpload-Length: 9", true, "inconsistentLength"),
      ("Content-Length: 8\nUpload-Length: 7", false, "inconsistentLength"),
      ("Upload-Length: 7", true, "inconsistentLength"), ("Content-Length: 8\nUpload-Length: -7", true, "8 of 8"),
      ("Content-Length: 8\nUpload-Offset: 0", true, "8 of 8"), ("Content-Length: 8\nUpload-Offset: 3", true, "400"),
      ("Content-Length: 8\nUpload-Offset: x", true, "8 of 8"),
      ("Content-Length: 18446744073709551615", true, "18446744073709551615 of 18446744073709551615"),
    ])
  func lengths(_ lines: String, _ completes: Bool, _ expected: String) {
    for number in 6...11 {
      #expect(outcome(Draft.request("POST /f", lines), number, completes) == expected, "\(number)")
    }
  }

  @Test("before version 5 know no Upload-Length", arguments: 3...4)
  func noLength(_ number: Int) {
    let head = Draft.request("POST /f", "Content-Length: 8\nUpload-Length: 100")
    #expect(outcome(head, number, true) == "8 of 8")
    #expect(outcome(head, number, false) == "8 of ?")
  }

  @Test("carry nothing of tus, though tus-js-client sends it")
  func foreignMetadata() throws {
    let head = Draft.request("POST /f", "Upload-Metadata: filename YQ==\nUpload-Defer-Length: 1\nUpload-Length: 5")
    let creation = try IETFRequest.creation(head, Draft.version(6), completes: false)
    #expect(creation.metadata == nil && creation.concat == nil && !creation.isLengthDeferred && creation.length == 5)
    #expect(!creation.hasContent && !creation.completes)
  }

  private func outcome(_ head: RequestHead, _ number: Int, _ completes: Bool) -> String {
    do {
      let creation = try IETFRequest.creation(head, Draft.version(number), completes: completes)
      #expect(creation.completes == completes && creation.hasContent == (creation.contentLength != 0))
      return [creation.contentLength, creation.length].map { $0.map { "\($0)" } ?? "?" }.joined(separator: " of ")
    } catch {
      return name(error)
    }
  }
}
