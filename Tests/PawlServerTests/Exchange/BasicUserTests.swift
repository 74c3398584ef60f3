import PawlHTTP
import Testing

@testable import PawlServer

@Suite("User of Basic credentials") struct BasicUserTests {
  @Test(
    "is what nginx finds for $remote_user",
    arguments: [
      ("Basic YW5uOnNlY3JldA==", "ann"), ("bAsIc   YW5uOnNlY3JldA==", "ann"), ("Basic YW5uOnNlY3JldA", "ann"),
      ("Basic YW5uOmE6Yg==", "ann"), ("Basic OnNlY3JldA==", nil), ("Basic YW5u", nil), ("Basic ", nil),
      ("Basic !!!!", nil), ("Basic Y", nil), ("Bearer YW5uOnNlY3JldA==", nil), ("Basic", nil),
    ])
  func names(_ credentials: String, _ expected: String?) {
    #expect(BasicUser.name(Bytes(credentials)).map { String(decoding: $0, as: UTF8.self) } == expected)
  }
}
