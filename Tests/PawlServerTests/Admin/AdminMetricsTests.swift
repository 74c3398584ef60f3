import PawlLoop
import PawlObserve
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("/metrics and /transfers", .timeLimit(.minutes(1))) struct AdminMetricsTests {
  @Test("metrics in the format that the scraper takes")
  func formats() throws {
    let bench = try AdminBench()
    bench.measured.add(.build, [("version", "1")], count: 1)
    let plain = bench.ask("GET", "/metrics")
    #expect(plain["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8" && plain["Vary"] == "Accept")
    #expect(plain.text.hasSuffix("# TYPE pawl_build_info gauge\npawl_build_info{version=\"1\"} 1\n"))
    let open = bench.ask(
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\(AdminBench.token)\r\nAccept: application/openmetrics-text\r\n\r\n")
    #expect(open["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    #expect(open.text.hasSuffix("# TYPE pawl_build info\npawl_build_info{version=\"1\"} 1\n# EOF\n"))
    #expect(bench.ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 401)
  }

  @Test("a page of transfers, and what is wrong with a question", arguments: ["/transfers", "/v1/transfers"])
  func page(_ path: String) throws {
    let bench = try AdminBench()
    let answer = bench.ask("GET", path)
    #expect(answer["Content-Type"] == "application/json")
    #expect(answer.text == #"{"transfers":[],"shown":0,"total":0,"complete":true}"# + "\n")
    let wrong = bench.ask("GET", "\(path)?limit=0")
    #expect(wrong.status == 400 && wrong.text.contains("limit: a number from 1 to 20000 is expected"))
  }

  @Test("the last event stream below the limit begins; one more is refused, until one ends")
  func streams() throws {
    let bench = try AdminBench()
    let request =
      "GET /transfers HTTP/1.1\r\nHost: localhost\r\n\(AdminBench.token)\r\nAccept: text/event-stream\r\n\r\n"
    let clients = (0..<TransferFeed.subscriberLimit).map { _ in ScriptedClient(port: bench.port) }
    let event = "event: snapshot\ndata: {\"transfers\":[],\"shown\":0,\"total\":0,\"complete\":true}\n\n"
    for client in clients {
      client.send(request)
      #expect(client.readHead().contains("\r\nContent-Type: text/event-stream\r\n"))
      let chunk = "\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n"
      #expect(String(decoding: client.read(chunk.utf8.count), as: UTF8.self).lowercased() == chunk.lowercased())
    }
    #expect(bench.ask(request).status == 503)
    clients[0].close()
    let start = SystemClock().now()
    var head = bench.askHead(request)
    while head.contains(" 503 "), SystemClock().now() - start < .seconds(30) { head = bench.askHead(request) }
    #expect(head.hasPrefix("HTTP/1.1 200 "))
  }
}

extension AdminBench {
  /// The head of the response to a request whose content has no end.
  fileprivate func askHead(_ request: String) -> String {
    let client = ScriptedClient(port: port)
    defer { client.close() }
    client.send(request)
    return client.readHead()
  }
}
