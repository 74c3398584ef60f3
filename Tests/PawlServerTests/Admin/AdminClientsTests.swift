import CLinux
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The clients of the admin interface", .timeLimit(.minutes(1))) struct AdminClientsTests {
  private static let question = "GET /v1/log-level HTTP/1.1\r\nHost: localhost\r\n"

  /// A client that has begun a request and proves nothing.
  private func idle(_ bench: AdminBench) -> ScriptedClient {
    let client = ScriptedClient(port: bench.port)
    client.send("G")
    return client
  }

  /// The first bytes of what comes over a unix socket.
  private func answer(of path: String, _ request: String) throws -> String {
    let address = try #require(SocketAddress.unix(path: path))
    let client = OwnedDescriptor(adopting: socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    #expect(address.withSockaddr { pawl_connect(client.raw, $0, $1) } == 0)
    #expect(write(client.raw, request, request.utf8.count) == request.utf8.count)
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = read(client.raw, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  @Test("of those over TCP that prove nothing, the oldest one is closed when there is one more than the limit")
  func unproven() throws {
    let bench = try AdminBench()
    let clients = (0..<AdminClients.mostUnproven).map { _ in idle(bench) }
    // Proves who it is, and does not count any more.
    let proven = ScriptedClient(port: bench.port)
    proven.send("\(Self.question)\(AdminBench.token)\r\n\r\n")
    #expect(proven.readAnswer().status == 200)
    // It has taken the place of the oldest one.
    #expect(clients[0].readToEnd().ending != .stillOpen)
    let last = idle(bench)
    for client in clients.dropFirst() {
      client.send(String(Self.question.dropFirst()) + "\r\n")
      #expect(client.readAnswer().status == 401)
    }
    last.send(String(Self.question.dropFirst()) + "\(AdminBench.token)\r\n\r\n")
    #expect(last.readAnswer().status == 200)
  }

  @Test("however many there are over TCP, a unix socket has its places")
  func local() throws {
    let bench = try AdminBench()
    let clients = (0..<2 * AdminClients.mostRemote).map { _ in idle(bench) }
    #expect(try answer(of: "\(bench.folder.path)/a.sock", "\(Self.question)\r\n").hasPrefix("HTTP/1.1 200 "))
    _ = clients
  }
}
