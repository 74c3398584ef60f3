import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("The request to the origin (UploadProtocols, \"Fields removed before delivery\")") struct DeliveryHeadTests {
  private let id = String(repeating: "0a", count: 16)

  private func make(
    _ creation: RequestHead, credentials: Fields? = nil, length: UInt64 = 9, type: String? = nil,
    disposition: String? = nil
  ) -> RequestHead {
    DeliveryHead.make(
      creation: creation, credentials: credentials, id: id, length: length, contentType: type.map { Array($0.utf8) },
      disposition: disposition.map { Array($0.utf8) })
  }

  private func lines(_ head: RequestHead) -> [String] {
    head.fields.lines.map { "\(head.fields.name($0).text): \(head.fields.value($0).text)" }
  }

  private var own: [String] { ["X-Pawl-Upload-Id: \(id)", "Idempotency-Key: \"\(id)\""] }

  @Test("is the creation without what the upload was about")
  func stripping() {
    let kept = [
      "Host: example.org", "Content-Type: video/mp4", "Content-Encoding: gzip", "Content-Disposition: inline",
      "Content-Language: de", "Authorization: Bearer x", "Cookie: a=b", "Origin: https://a", "User-Agent: u",
      "Repr-Digest: sha-256=:YWJj:", "If-Match: \"a\"", "X-Own: x",
    ]
    let gone = """
      Upload-Draft-Interop-Version: 6
      Upload-Complete: ?0
      Upload-Incomplete: ?1
      Upload-Offset: 0
      Upload-Length: 9
      Upload-Limit: max-size=5
      Incremental: ?1
      Expect: 100-continue
      Content-Length: 5
      Tus-Resumable: 1.0.0
      tus-version: 1.0.0
      Upload-Metadata: filename YQ==
      Upload-Concat: partial
      Upload-Checksum: sha1 YQ==
      Upload-Defer-Length: 1
      Upload-Expires: x
      X-HTTP-Method-Override: PATCH
      Content-Digest: sha-256=:YWJj:
      Connection: x-hop, close
      X-Hop: x
      Keep-Alive: 5
      TE: trailers
      Trailer: Content-Digest
      Transfer-Encoding: chunked
      X-Pawl-Upload-Id: forged
      """
    let head = make(Draft.request("PUT /f?q=1", kept.joined(separator: "\n") + "\n" + gone))
    #expect(lines(head) == kept + own)
    #expect(head.method == .put && head.target.text == "/f?q=1" && head.authority.text == "example.org")
    #expect(head.framing == .length(9) && head.version == .http11)
  }

  @Test("carries the latest credentials, each in place of the creation's")
  func credentials() {
    let creation = Draft.request("POST /f", "Authorization: Bearer old\nCookie: old=1\nCookie: old=2\nX: y")
    #expect(lines(make(creation, credentials: Fields())).contains("Authorization: Bearer old"))
    let token = make(creation, credentials: Draft.fields("Authorization: Bearer new\nX: z"))
    #expect(lines(token) == ["Cookie: old=1", "Cookie: old=2", "X: y", "Authorization: Bearer new"] + own)
    let cookie = make(creation, credentials: Draft.fields("Cookie: new=1\nCookie: new=2"))
    #expect(lines(cookie) == ["Authorization: Bearer old", "X: y", "Cookie: new=1", "Cookie: new=2"] + own)
  }

  @Test("keeps the client's own idempotency key")
  func key() {
    let head = make(Draft.request("POST /f", "idempotency-key: \"mine\""))
    #expect(lines(head) == ["idempotency-key: \"mine\"", "X-Pawl-Upload-Id: \(id)"])
  }

  @Test("keeps a content digest only of a creation that was the whole")
  func digest() {
    let digest = "Content-Digest: sha-256=:YWJj:"
    #expect(lines(make(Draft.request("POST /f", "\(digest)\nContent-Length: 9"))) == [digest] + own)
    #expect(lines(make(Draft.request("POST /f", "\(digest)\nContent-Length: 8"))) == own)
    #expect(lines(make(Draft.request("POST /f", "\(digest)\nTransfer-Encoding: chunked"))) == own)
  }

  @Test("does not take the type of an upload for that of its content")
  func type() {
    for type in ["application/offset+octet-stream", "application/partial-upload", "Application/Partial-Upload; a"] {
      #expect(lines(make(Draft.request("POST /f", "Content-Type: \(type)"))) == own)
    }
    let raw = make(
      Draft.request("POST /f", "Content-Type: application/offset+octet-stream\nRepr-Digest: sha-256=:YWJj:"),
      type: "image/png", disposition: "inline; filename=\"a.png\"")
    #expect(
      lines(raw) == [
        "Repr-Digest: sha-256=:YWJj:", "Content-Type: image/png", "Content-Disposition: inline; filename=\"a.png\"",
      ] + own)
  }

  @Test("describes a form as the form, not as what is in it")
  func form() {
    let creation = Draft.request(
      "POST /f",
      """
      Content-Type: image/png
      Content-Encoding: gzip
      Repr-Digest: sha-256=:YWJj:
      Content-Digest: sha-256=:YWJj:
      Digest: x
      Content-MD5: x
      Content-Length: 9
      """)
    #expect(
      lines(make(creation, type: "multipart/form-data; boundary=b")) == [
        "Content-Type: multipart/form-data; boundary=b"
      ] + own)
  }

  @Test("of a small upload loses nothing but the upload's fields")
  func small() {
    var fields = Draft.fields(
      """
      Host: a
      Upload-Draft-Interop-Version: 6
      upload-complete: ?1
      Upload-Length: 5
      Upload-Metadata: a
      Content-Length: 5
      Expect: 100-continue
      Incremental: ?1
      X-HTTP-Method-Override: PUT
      Upload-Reason: own
      """)
    DeliveryHead.stripped(&fields)
    #expect(
      fields.lines.map { fields.name($0).text } == [
        "Host", "Content-Length", "Expect", "Incremental", "X-HTTP-Method-Override", "Upload-Reason",
      ])
  }
}
