import PawlConfig
import PawlHTTP
import PawlLoop
import Testing

@testable import PawlServer

@Suite("Who may use the admin interface") struct AdminGuardTests {
  private func guardian(_ listen: String, token: String? = "0123456789abcdef", hosts: [String] = []) -> AdminGuard {
    var settings = AdminSettings(stateDirectory: "/state")
    let parts = listen.split(separator: ":")
    settings.listen = [.internet(host: String(parts[0]), port: UInt16(parts[1]) ?? 0)]
    settings.token = token.map(Secret.init)
    settings.allowedHosts = hosts
    return AdminGuard(settings)
  }

  /// `operator`, `anyone`, or the status of the refusal.
  private func verdict(
    _ guardian: AdminGuard, _ bench: ServerBench, host: String = "127.0.0.1:9180", peer: String = "127.0.0.1:4711",
    isForAnyone: Bool = false, _ fields: [(String, String)] = []
  ) -> String {
    var head = RequestHead(method: .get, target: Bytes("/v1/status"), authority: Bytes(host))
    for (name, value) in fields { head.fields.append(named: name.utf8, value.utf8) }
    let request = IncomingRequest(
      head: head, route: bench.route, loop: bench.services,
      facts: ClientFacts(client: SocketAddress.parse(peer), isTrusted: false, port: 9180), requestID: [],
      isRouted: true, record: TransferRecord(began: bench.loop.now))
    return switch guardian.verdict(on: request, isForAnyone: isForAnyone) {
    case .passes(isOperator: true): "operator"
    case .passes(isOperator: false): "anyone"
    case .refused(let reply, _): "\(reply.status)"
    }
  }

  @Test(
    "a token is compared as a whole, and taken from Authorization alone",
    arguments: [
      ("Bearer 0123456789abcdef", "operator"), ("bearer  0123456789abcdef ", "operator"),
      ("Bearer 0123456789abcdeF", "401"), ("Bearer 0123456789abcde", "401"), ("Bearer 0123456789abcdef0", "401"),
      ("Bearer", "401"), ("Basic 0123456789abcdef", "401"), ("0123456789abcdef", "401"), ("Bearer ", "401"),
    ])
  func token(_ value: String, _ expected: String) throws {
    let bench = try ServerBench()
    let guardian = guardian("127.0.0.1:9180")
    #expect(verdict(guardian, bench, [("Authorization", value)]) == expected)
    // Two of them are none.
    let twice = [("Authorization", value), ("Authorization", "Bearer 0123456789abcdef")]
    #expect(verdict(guardian, bench, twice) == "401")
    #expect(verdict(self.guardian("127.0.0.1:9180", token: nil), bench, [("Authorization", value)]) == "401")
  }

  @Test(
    "a host that is not its own is refused, so that no name of others can be rebound to it",
    arguments: [
      ("127.0.0.1:9180", "127.0.0.1", "operator"), ("127.0.0.1:9180", "localhost:1", "operator"),
      ("127.0.0.1:9180", "[::1]:9180", "operator"), ("127.0.0.1:9180", "evil.example", "421"),
      ("127.0.0.1:9180", "192.0.2.1", "421"), ("127.0.0.1:9180", "", "operator"),
      ("192.0.2.1:9180", "192.0.2.1:9180", "operator"), ("0.0.0.0:9180", "192.0.2.1:9180", "operator"),
      ("0.0.0.0:9180", "[2001:db8::1]", "operator"), ("0.0.0.0:9180", "evil.example", "421"),
      ("127.0.0.1:9180", "ops.example:443", "operator"),
    ])
  func host(_ listen: String, _ host: String, _ expected: String) throws {
    let bench = try ServerBench()
    let guardian = guardian(listen, hosts: ["ops.example"])
    let fields = [("Authorization", "Bearer 0123456789abcdef")]
    #expect(verdict(guardian, bench, host: host, fields) == expected)
    #expect(verdict(guardian, bench, host: host, peer: "unix:/x") == expected)
    #expect(verdict(guardian, bench, host: host, isForAnyone: true) == "anyone")
  }

  @Test(
    "pages of other sites are refused",
    arguments: [
      ("Origin", "http://127.0.0.1:9180", "operator"), ("Origin", "https://127.0.0.1:9180", "403"),
      ("Origin", "http://127.0.0.1", "403"), ("Origin", "http://evil.example", "403"), ("Origin", "null", "403"),
      ("Sec-Fetch-Site", "cross-site", "403"), ("Sec-Fetch-Site", "same-site", "403"),
      ("Sec-Fetch-Site", "same-origin", "operator"), ("Sec-Fetch-Site", "none", "operator"),
    ])
  func pages(_ name: String, _ value: String, _ expected: String) throws {
    let bench = try ServerBench()
    #expect(verdict(guardian("127.0.0.1:9180"), bench, peer: "unix:/x", [(name, value)]) == expected)
  }
}
