import CLinux
import Testing

@testable import PawlLoop

@Suite("Loop error") struct LoopErrorTests {
  @Test("says in plain words what is the matter")
  func describes() throws {
    let address = try #require(SocketAddress.parse("127.0.0.1:80"))
    let texts: [(LoopError, String)] = [
      (.addressInUse(address), "127.0.0.1:80 is already in use"),
      (.addressNotAvailable(address), "127.0.0.1:80 is not an address of this machine"),
      (.notPermitted(address), "not permitted to listen on 127.0.0.1:80"),
      (.system(call: "socket", code: EMFILE), "socket: Too many open files"),
    ]
    for (error, text) in texts { #expect(error.description == text) }
    #expect(errorText(9999) == "error 9999")
  }
}
