import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("CORS (Fetch; UploadProtocols, \"tus and CORS\")") struct CORSPolicyTests {
  private let listed = CORSPolicy(.origins(["https://app.example", "https://b.example"].map { Array($0.utf8) }))
  private let any = CORSPolicy(.any)
  private let asks = "Access-Control-Request-Method: PATCH\nAccess-Control-Request-Headers: tus-resumable,x-own"

  private func value(_ fields: Fields, _ name: String) -> String? {
    let values = fields.all(named: name.utf8)
    return values.isEmpty ? nil : values.map(\.text).joined(separator: " | ")
  }

  private func members(_ fields: Fields, _ name: String) -> [String] {
    (value(fields, name) ?? "").split(separator: ",").map { $0.drop { $0 == " " }.lowercased() }
  }

  @Test("a preflight of a listed origin is told everything a browser asks for")
  func preflight() {
    let fields = listed.preflight(Draft.fields("Origin: https://b.example\n" + asks))
    #expect(value(fields, "Access-Control-Allow-Origin") == "https://b.example")
    #expect(value(fields, "Access-Control-Allow-Credentials") == "true")
    #expect(value(fields, "Access-Control-Max-Age") == "86400")
    #expect(value(fields, "Access-Control-Allow-Methods") == "POST, PUT, HEAD, PATCH, OPTIONS, GET, DELETE")
    let allowed = members(fields, "Access-Control-Allow-Headers")
    let needed = [
      "authorization", "origin", "x-requested-with", "x-request-id", "x-http-method-override", "content-type",
      "upload-length", "upload-offset", "tus-resumable", "upload-metadata", "upload-defer-length", "upload-concat",
      "upload-checksum", "upload-complete", "upload-incomplete", "upload-draft-interop-version", "content-digest",
      "repr-digest", "want-repr-digest", "content-disposition", "incremental", "x-own",
    ]
    #expect(Set(allowed).isSuperset(of: needed))
    #expect(Set(allowed).count == allowed.count)
  }

  @Test("what is no preflight of an allowed origin is told nothing")
  func strangers() {
    let requests = [
      "", asks, "Origin: https://evil.example\n" + asks, "Origin: https://app.example.evil\n" + asks,
      "Origin: https://app.example:8443\n" + asks, "Origin: null\n" + asks, "Origin: https://app.example",
      "Origin: https://app.example\nOrigin: https://app.example\n" + asks,
    ]
    for request in requests { #expect(listed.preflight(Draft.fields(request)).count == 0, "\(request)") }
    #expect(CORSPolicy(.off).preflight(Draft.fields("Origin: https://app.example\n" + asks)).count == 0)
  }

  @Test(
    "pages of other origins are let in for uploads only",
    arguments: [
      ("Upload-Complete: ?1", true), ("Tus-Resumable: 1.0.0", true), ("Content-Type: text/plain", false), ("", false),
      ("Access-Control-Request-Method: PATCH\nAccess-Control-Request-Headers: x-a, upload-offset", true),
      ("Access-Control-Request-Method: POST\nAccess-Control-Request-Headers: Tus-Resumable", true),
      ("Access-Control-Request-Method: DELETE\nAccess-Control-Request-Headers: authorization", false),
      ("Access-Control-Request-Method: DELETE", false), ("Access-Control-Request-Method: POST", true),
    ])
  func concerns(_ lines: String, _ expected: Bool) {
    var fields = Fields()
    for line in lines.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      fields.append(named: Bytes(String(parts[0])), Bytes(String(parts[1])).trimmed)
    }
    #expect(CORSPolicy.isAboutUploads(fields) == expected)
  }

  @Test("any origin is allowed without credentials")
  func anyOrigin() {
    let fields = any.preflight(Draft.fields("Origin: null\n" + asks))
    #expect(value(fields, "Access-Control-Allow-Origin") == "*")
    #expect(value(fields, "Access-Control-Allow-Credentials") == nil)
    var head = ResponseHead(status: 409)
    any.dress(&head, for: Fields())
    #expect(value(head.fields, "Access-Control-Allow-Origin") == "*")
    #expect(!head.fields.contains(.vary))
  }

  @Test("asked for names that are none are not repeated")
  func asked() {
    let fields = any.preflight(
      Draft.fields("Access-Control-Request-Method: PUT\nAccess-Control-Request-Headers: x-a, x b, \"x-c\", x-A, *"))
    #expect(members(fields, "Access-Control-Allow-Headers").suffix(2) == ["x-a", "*"])
  }

  @Test("an answer exposes what scripts read; errors too")
  func dressed() {
    var head = ResponseHead(status: 460)
    listed.dress(&head, for: Draft.fields("Origin: https://app.example"))
    #expect(value(head.fields, "Access-Control-Allow-Origin") == "https://app.example")
    #expect(value(head.fields, "Access-Control-Allow-Credentials") == "true")
    #expect(value(head.fields, "Vary") == "Origin")
    let needed = [
      "upload-offset", "location", "upload-length", "upload-limit", "upload-expires", "tus-version", "tus-resumable",
      "tus-max-size", "tus-extension", "tus-checksum-algorithm", "upload-metadata", "upload-defer-length",
      "upload-concat", "upload-complete", "upload-incomplete", "upload-draft-interop-version", "retry-after", "etag",
      "pawl-origin-status", "upload-checksum",
    ]
    #expect(Set(members(head.fields, "Access-Control-Expose-Headers")).isSuperset(of: needed))
  }

  @Test("an answer to another origin says only that it differs by origin")
  func undressed() {
    for request in ["", "Origin: https://evil.example"] {
      var head = ResponseHead(status: 200)
      listed.dress(&head, for: Draft.fields(request))
      #expect(Draft.text(head) == "200\nVary: Origin")
      CORSPolicy(.off).dress(&head, for: Draft.fields("Origin: https://app.example"))
      #expect(Draft.text(head) == "200\nVary: Origin")
    }
  }

  @Test("nothing that the origin sent is doubled")
  func merged() {
    let origin = """
      access-control-allow-origin: https://app.example
      Access-Control-Expose-Headers: X-Total, upload-offset
      Access-Control-Expose-Headers: Location
      Access-Control-Allow-Methods: GET, post
      Access-Control-Max-Age: 5
      Vary: Accept, origin
      """
    var head = ResponseHead(status: 204, fields: Draft.fields(origin))
    let request = Draft.fields("Origin: https://app.example\n" + asks)
    listed.dressPreflight(&head, for: request)
    #expect(value(head.fields, "Access-Control-Allow-Origin") == "https://app.example")
    #expect(value(head.fields, "Access-Control-Allow-Credentials") == nil)
    #expect(value(head.fields, "Access-Control-Max-Age") == "5")
    #expect(value(head.fields, "Vary") == "Accept, origin")
    #expect(
      members(head.fields, "Access-Control-Allow-Methods") == [
        "get", "post", "put", "head", "patch", "options", "delete",
      ])
    let exposed = members(head.fields, "Access-Control-Expose-Headers")
    #expect(exposed.prefix(3) == ["x-total", "upload-offset", "location"])
    #expect(Set(exposed).count == exposed.count)
    let once = head
    listed.dressPreflight(&head, for: request)
    #expect(Draft.text(head) == Draft.text(once))
  }

  @Test("dressing twice changes nothing")
  func idempotent() {
    for policy in [listed, any] {
      var head = ResponseHead(status: 200)
      policy.dress(&head, for: Draft.fields("Origin: https://app.example"))
      let once = Draft.text(head)
      policy.dress(&head, for: Draft.fields("Origin: https://app.example"))
      #expect(Draft.text(head) == once)
    }
  }
}
