import Testing

@testable import PawlTLS

@Suite("TLS problems") struct TLSProblemTests {
  @Test("name the file they are about")
  func description() {
    #expect(
      TLSProblem("the key is not this certificate's", file: "a.pem").description
        == "a.pem: the key is not this certificate's")
    #expect(TLSProblem("no certificate").description == "no certificate")
  }
}
