import PawlLoop
import PawlTestKit
import Testing

@testable import PawlUpstream

@Suite("Checks of all nodes of an upstream") struct NodeChecksTests {
  @Test("take out the node that fails, and bring it back; end when they are told to")
  func outAndBack() throws {
    let (away, well) = ("HTTP/1.1 503 Away\r\n\r\n", "HTTP/1.1 204 None\r\n\r\n")
    let answers = [away, away] + Array(repeating: well, count: 200)
    let one = ScriptedOrigin(.tcp, scripts: answers.map { [.expectHead, .send($0), .readToEnd] })
    let two = ScriptedOrigin(.tcp, scripts: Array(repeating: [.expectHead, .send(well), .readToEnd], count: 200))
    let loop = try EventLoop(index: 0)
    let said = TestLock<[NodeNews]>([])
    var settings = UpstreamSettings(name: "test", urls: [UpstreamURL(one), UpstreamURL(two)])
    settings.nodes.check = NodeCheckSettings(
      path: Array("/".utf8), interval: .milliseconds(5), timeout: .seconds(10), statuses: [204...204])
    let upstream = Upstream(settings, resolver: Bench.resolver, news: { news in said.withLock { $0.append(news) } })
    let checks = try #require(NodeChecks(upstream, on: loop))
    checks.start()
    loop.turn { said.withLock { $0.count < 2 } }
    checks.stop()
    #expect(
      said.withLock { $0 } == [
        NodeNews(url: 0, isUp: false, why: "status 503"), NodeNews(url: 0, isUp: true, why: "its checks pass"),
      ])
    _ = (one.finish(), two.finish())
  }

  @Test("are none where nothing is to be asked")
  func none() throws {
    let upstream = Upstream(
      UpstreamSettings(name: "test", urls: [UpstreamURL(host: "a", port: 1)]), resolver: Bench.resolver)
    #expect(NodeChecks(upstream, on: try EventLoop(index: 0)) == nil)
  }
}
