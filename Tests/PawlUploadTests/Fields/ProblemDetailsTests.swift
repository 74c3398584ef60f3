import Testing

@testable import PawlUpload

@Suite("Problem details (RFC 9457)") struct ProblemDetailsTests {
  @Test("are JSON with the members of their type")
  func body() {
    let problem = ProblemDetails(
      kind: .mismatchingOffset, title: "Elsewhere", status: 409, detail: "A \"quoted\" back\\slash\u{1f}\n",
      numbers: [("expected-offset", 5), ("provided-offset", .max)])
    #expect(
      String(decoding: problem.body, as: UTF8.self) == """
        {"type":"https://iana.org/assignments/http-problem-types#mismatching-upload-offset","title":"Elsewhere",\
        "status":409,"detail":"A \\"quoted\\" back\\\\slash\\u001f\\u000a",\
        "expected-offset":5,"provided-offset":18446744073709551615}

        """)
  }

  @Test("without a type of their own say so")
  func blank() {
    let problem = ProblemDetails(title: "Gone", status: 410)
    #expect(
      String(decoding: problem.body, as: UTF8.self) == "{\"type\":\"about:blank\",\"title\":\"Gone\",\"status\":410}\n")
  }
}
