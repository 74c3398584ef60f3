import CLinux
import PawlTLS
import PawlTestKit
import Testing

@testable import PawlLoop

@Suite("TLS on a socket stream", .timeLimit(.minutes(1))) struct SecureStreamTests {
  @Test("shakes hands and carries octets both ways")
  func carries() throws {
    let pair = try SecurePair(TestTLS.server(), TestTLS.client()).shake()
    #expect(pair.server.outcome == .done)
    #expect(pair.client.outcome == .done)
    #expect(pair.client.send("hello") == .bytes(5))
    wait(pair.loop) { pair.server.text == "hello" }
    #expect(pair.server.send("world") == .bytes(5))
    wait(pair.loop) { pair.client.text == "world" }
    #expect(pair.server.stream.tls?.version == .v13)
    #expect(pair.server.stream.tls?.applicationProtocol == Array("http/1.1".utf8))
    #expect(pair.server.stream.tls?.serverName == Array("a.example".utf8))
    #expect(pair.client.stream.tls?.cipher == "TLS_AES_128_GCM_SHA256")
  }
}
