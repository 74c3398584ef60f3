import PawlHTTP
import PawlLoop
import Testing

@testable import PawlServer

@Suite("The connections of one loop") struct LoopConnectionsTests {
  private func head(_ authority: String, _ fields: [(FieldName, String)] = []) -> RequestHead {
    var head = RequestHead(
      method: .get, target: Bytes("/f"), authority: Bytes(authority), version: .http11, framing: .none)
    for (name, value) in fields { head.fields.append(name, value) }
    return head
  }

  @Test("a request keeps the identifier it brings; without one it has a new one")
  func identifiers() throws {
    let bench = try ServerBench()
    func id(_ fields: [(FieldName, String)], told: [UInt8]? = nil) -> [UInt8] {
      let facts = bench.request().facts
      return bench.serverLoop.connections.makeRequest(
        head("site", fields), facts: facts, began: bench.loop.now, id: told
      ).requestID
    }
    #expect(id([(.xRequestID, "mine")]) == Array("mine".utf8))
    // The URL of an upload is a secret.
    let token = String(repeating: "A", count: 32)
    let shown = String(decoding: id([(.xRequestID, "a /.pawl/uploads/\(token)")]), as: UTF8.self)
    #expect(shown.hasPrefix("a /.pawl/uploads/~") && !shown.contains(token))
    #expect(id([(.xRequestID, "mine")], told: Array("told".utf8)) == Array("told".utf8))
    let (one, other) = (id([]), id([]))
    #expect(!one.isEmpty && one != other)
    // Two of them are none.
    let twice = id([(.xRequestID, "a"), (.xRequestID, "b")])
    #expect(twice != Array("a".utf8) && twice != Array("b".utf8))
  }

  @Test("a request that no site takes has the settings of the first, and is known to be nobody's")
  func noSite() throws {
    let bench = try ServerBench { $0.site = "host = a.example" }
    func request(_ authority: String) -> IncomingRequest {
      bench.serverLoop.connections.makeRequest(head(authority), facts: bench.request().facts, began: bench.loop.now)
    }
    let (taken, untaken) = (request("a.example"), request("b.example"))
    #expect(taken.isRouted && taken.record.upstream == taken.route.upstreamName)
    #expect(!untaken.isRouted && untaken.record.upstream == "-" && untaken.route === taken.route)
  }
}
