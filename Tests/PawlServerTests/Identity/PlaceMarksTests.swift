import PawlHTTP
import PawlLoop
import PawlUploadStore
import PawlUpstream
import Testing

@testable import PawlServer

@Suite("On whose account a place at an upstream is") struct PlaceMarksTests {
  private func request(
    _ bench: ServerBench, _ client: String, _ target: String = "/f", _ fields: [(FieldName, String)] = [],
    isTrusted: Bool = false
  ) -> IncomingRequest {
    let made = bench.request(.get, target, fields)
    return IncomingRequest(
      head: made.head, route: made.route, loop: made.loop,
      facts: ClientFacts(client: SocketAddress.parse(client), isTrusted: isTrusted, port: 80), requestID: [],
      isRouted: true, record: TransferRecord(began: made.loop.loop.now))
  }

  private func holder(_ request: IncomingRequest) -> PlaceHolder { PlaceMarks.holder(of: request) }

  @Test("an address counts whatever its port, and of IPv6 the network")
  func clients() throws {
    let bench = try ServerBench()
    let one = holder(request(bench, "192.0.2.1:1"))
    #expect(one.client != 0 && one == holder(request(bench, "192.0.2.1:2")))
    #expect(one.client != holder(request(bench, "192.0.2.2:1")).client)
    let sixth = holder(request(bench, "[2001:db8:1:2::1]:1"))
    #expect(sixth.client == holder(request(bench, "[2001:db8:1:2:3::4]:1")).client)
    #expect(sixth.client != holder(request(bench, "[2001:db8:1:3::1]:1")).client)
    #expect(holder(request(bench, "unix:/x")).client == 0)
  }

  @Test("behind a trusted proxy it is whom that names, and nobody in particular where it names none")
  func trusted() throws {
    let bench = try ServerBench()
    let named: [(FieldName, String)] = [(.xForwardedFor, "203.0.113.9, 198.51.100.7")]
    let one = holder(request(bench, "192.0.2.1:1", "/f", named, isTrusted: true))
    #expect(one.client == holder(request(bench, "192.0.2.2:1", "/f", named, isTrusted: true)).client)
    #expect(one.client != holder(request(bench, "192.0.2.1:1", "/f", named)).client)
    #expect(holder(request(bench, "192.0.2.1:1", isTrusted: true)).client == 0)
  }

  @Test("a path counts without its query; what lasts by nature has none")
  func paths() throws {
    let bench = try ServerBench()
    let one = holder(request(bench, "192.0.2.1:1", "/f?1"))
    #expect(one.path != 0 && one.path == holder(request(bench, "192.0.2.9:1", "/f?2")).path)
    #expect(one.path != holder(request(bench, "192.0.2.1:1", "/g")).path)
    for field in [(FieldName.upgrade, "websocket"), (.accept, "text/event-stream")] {
      let lasting = holder(request(bench, "192.0.2.1:1", "/f", [field]))
      #expect(lasting.path == 0 && lasting.client == one.client)
    }
  }

  @Test(
    "an upload counts for whom the client's other requests count for",
    arguments: [
      ("192.0.2.1:1", [], false), ("[2001:db8:1:2::1]:1", [], false), ("unix:/x", [], false), ("192.0.2.1:1", [], true),
      ("192.0.2.1:1", ["203.0.113.9, 198.51.100.7"], false), ("192.0.2.1:1", ["203.0.113.9, 198.51.100.7"], true),
      ("192.0.2.1:1", ["203.0.113.9, 2001:db8:1:2::1"], true), ("192.0.2.1:1", [","], true),
    ])
  func uploads(_ client: String, _ named: [String], _ isTrusted: Bool) throws {
    let bench = try ServerBench()
    let asked = request(bench, client, "/f?1", named.map { (FieldName.xForwardedFor, $0) }, isTrusted: isTrusted)
    let upload = UploadOrigin(
      head: asked.head, clientAddress: Array((asked.client?.hostText ?? "").utf8), peerIsTrusted: isTrusted,
      client: UploadClient.name(Array("somebody".utf8)))
    #expect(PlaceMarks.holder(of: upload) == holder(asked) && holder(asked).path != 0)
  }

  @Test("a question counts for the client whose request it is about, and for its own path")
  func questions() throws {
    let bench = try ServerBench()
    let asked = request(bench, "192.0.2.1:1")
    let question = PlaceMarks.holder(of: request(bench, "192.0.2.9:1", "/auth").head, for: asked)
    #expect(question.client == holder(asked).client)
    #expect(question.path == holder(request(bench, "192.0.2.7:1", "/auth")).path)
  }
}
