import PawlHTTP
import PawlObserve
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("What is counted") struct IncomingRequestCountingTests {
  private static let size = 20_000
  private static let content = OriginStep.pattern(from: 0, count: size)

  private func sum(_ pawl: TestServer, _ counter: LoopCounter) -> UInt64 {
    pawl.server.services.metrics.loops.reduce(0) { $0 + $1.value(counter) }
  }

  private func sum(_ pawl: TestServer, _ counter: UpstreamCounters.Counter) -> UInt64 {
    pawl.server.services.metrics.upstreams.flatMap(\.loops).reduce(0) { $0 + $1.value(counter) }
  }

  private func defects(_ pawl: TestServer) -> [OriginDefect] {
    let loops = pawl.server.services.metrics.upstreams.flatMap(\.loops)
    return OriginDefect.allCases.filter { defect in loops.contains { $0.defects(defect) > 0 } }
  }

  private func requests(_ pawl: TestServer, _ status: StatusClass, _ outcome: CacheOutcome) -> UInt64 {
    pawl.server.services.metrics.loops.reduce(0) { $0 + $1.requests(status, outcome) }
  }

  /// Waits for this many requests in the metrics, of every status and outcome.
  private func wait(for count: UInt64, _ pawl: TestServer) {
    pawl.waitUntil("\(count) requests are counted") {
      var all: UInt64 = 0
      for status in StatusClass.allCases {
        for outcome in CacheOutcome.allCases { all += requests(pawl, status, outcome) }
      }
      return all == count
    }
  }

  private static func head(_ fields: String = "", length: Int = size) -> OriginStep {
    .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\(fields)Content-Length: \(length)\r\n\r\n")
  }

  @Test("bytes by source add up to what clients got and what the origin sent, without an access log, too")
  func sums() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.head(), .sendPattern(count: 10_000), .reset],
      [.expectHead, Self.head(), .sendPattern(count: Self.size), .readToEnd])
    let pawl = try TestServer(origin) {
      $0.accessLog = "off"
      $0.cache = "memory-object = 32K"
    }
    #expect(pawl.get().content == Self.content)
    pawl.waitForBodyInMemory()
    #expect(pawl.get().content == Self.content)
    #expect(pawl.get("/f", "Range: bytes=15000-").content == Array(Self.content[15000...]))
    #expect(pawl.get("/f", "Range: bytes=5-14").content.count == 10)
    #expect(pawl.ask("GET /none HTTP/1.1\r\nHost: \r\n\r\n").status == 400)
    wait(for: 5, pawl)
    let fromOrigin = [sum(pawl, .fromOriginNew), sum(pawl, .fromOriginResumed), sum(pawl, .fromOriginReplayed)]
    #expect(fromOrigin == [10_000, 10_000, 10_000] && sum(pawl, .fromOriginWasted) == 0)
    #expect(sum(pawl, .bytesReceived) == 30_000)
    #expect(sum(pawl, .toClientFromOrigin) == 20_000 && sum(pawl, .toClientFromCache) == 25_010)
    #expect(sum(pawl, .clientResumedRange) == 1 && sum(pawl, .savedByClientResume) == 15_000)
    #expect(sum(pawl, .resumedAfterReset) == 1 && sum(pawl, .savedByFillResume) == 0)
    #expect(requests(pawl, .success, .miss) == 1 && requests(pawl, .success, .hit) == 3)
    #expect(requests(pawl, .clientError, .none) == 1 && sum(pawl, .toClientFromPawl) > 0)
    #expect(sum(pawl, .downloadsBegan) == sum(pawl, .downloadsEnded) && sum(pawl, .endedDone) == 4)
    #expect(sum(pawl, .fillsBegan) == 1 && sum(pawl, .fillsEnded) == 1)
    #expect(sum(pawl, .connectionsOpened) == 2 && sum(pawl, .requests) == 2 && defects(pawl) == [])
    pawl.waitUntil("the connections are over") { sum(pawl, .http1Began) == sum(pawl, .http1Ended) }
    #expect(sum(pawl, .accepted) == 5)
    #expect(pawl.stop() == [])
  }

  @Test("a resumption by range saves what came before it; what is fetched twice is compared, not new")
  func range() throws {
    let tag = "ETag: \"v1\"\r\nAccept-Ranges: bytes\r\n"
    let from = 10_000 - 4096
    let part =
      "HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=60\r\n\(tag)Content-Length: \(Self.size - from)\r\n"
      + "Content-Range: bytes \(from)-\(Self.size - 1)/\(Self.size)\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.head(tag), .sendPattern(count: 10_000)],
      [.expectHead, .send(part), .sendPattern(from: UInt64(from), count: Self.size - from), .readToEnd])
    let pawl = try TestServer(origin)
    #expect(pawl.get().content == Self.content)
    wait(for: 1, pawl)
    #expect(sum(pawl, .fromOriginReplayed) == 4096 && sum(pawl, .fromOriginResumed) == 10_000)
    #expect(sum(pawl, .savedByFillResume) == UInt64(from) && sum(pawl, .resumedAfterEarlyEnd) == 1)
    #expect(defects(pawl) == [.truncated])
    #expect(pawl.stop() == [])
  }

  @Test("an origin that answers a range with everything, under the same tag")
  func rangeIgnored() throws {
    let tag = "ETag: \"v1\"\r\n"
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.head(tag), .sendPattern(count: 10_000), .reset],
      [.expectHead, Self.head(tag), .sendPattern(count: Self.size), .readToEnd])
    let pawl = try TestServer(origin)
    #expect(pawl.get().content == Self.content)
    wait(for: 1, pawl)
    #expect(defects(pawl) == [.rangeIgnored])
    #expect(pawl.stop() == [])
  }

  @Test("a transfer that the origin breaks off for good")
  func broken() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n"), .reset])
    let pawl = try TestServer(origin)
    #expect(pawl.get().status == 502)
    wait(for: 1, pawl)
    let loops = pawl.server.services.metrics.upstreams.flatMap(\.loops)
    #expect(loops.reduce(0) { $0 + $1.failures(.closed) } == 1)
    #expect(requests(pawl, .serverError, .none) == 1 && sum(pawl, .endedByOrigin) == 1)
    #expect(pawl.stop() == [])
  }

  @Test("a client that leaves, and a request's content")
  func client() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .read(5), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .readToEnd])
    let pawl = try TestServer(origin)
    #expect(pawl.ask("POST /p HTTP/1.1\r\nHost: site\r\nContent-Length: 5\r\n\r\nhello").text == "ok")
    wait(for: 1, pawl)
    #expect(sum(pawl, .fromClient) == 5 && sum(pawl, .bytesSent) == 5 && sum(pawl, .toClientFromOrigin) == 2)
    #expect(pawl.stop() == [])
  }

  @Test(
    "only one range without an end, behind the first byte, goes on with a download",
    arguments: [
      ("bytes=7-", 7), ("bytes=0-", nil), ("bytes=7-9", nil), ("bytes=-7", nil), ("bytes=7-,9-", nil),
      ("lines=7-", nil),
    ] as [(String, UInt64?)])
  func resumption(_ range: String, _ offset: UInt64?) {
    #expect(IncomingRequest.resumedAt(Fields([(.range, range)])) == offset)
  }
}
