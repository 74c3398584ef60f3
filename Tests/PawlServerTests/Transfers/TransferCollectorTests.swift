import PawlLoop
import PawlObserve
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The list of transfers of a server") struct TransferCollectorTests {
  /// Gathers on a loop that the test turns itself.
  private func gather(
    _ sources: [TransferSource], _ query: TransferQuery = TransferQuery(), clock: any LoopClock = SystemClock(),
    meanwhile: () -> Void = {}
  ) throws -> (rows: [TransferRow], outcome: TransferGathering.Outcome) {
    let loop = try EventLoop(index: 9, clock: clock)
    var rows: [TransferRow] = []
    var outcome: TransferGathering.Outcome?
    loop.turn {
      outcome == nil
    } began: {
      TransferGathering(query, from: sources, on: loop, rows: { rows += $0 }, done: { outcome = $0 })
      meanwhile()
    }
    return (rows, try #require(outcome))
  }

  @Test("a download and its fill: how far they are, of how much, to whom")
  func download() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 4\r\n\r\nha"), .wait(gate),
        .send("lf"), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(TestServer.request())
    _ = client.readHead()
    #expect(client.read(2) == Array("ha".utf8))
    let (rows, outcome) = try gather(pawl.server.transferSources)
    #expect(outcome.total == 2 && outcome.shown == 2 && outcome.isComplete)
    let download = try #require(rows.first { $0.kind == .download })
    #expect(download.done == 2 && download.total == 4 && download.state == .sending)
    #expect(download.id == Array("r".utf8) && download.target == Array("/f".utf8))
    #expect(download.client == Array("127.0.0.1".utf8) && download.site == "default" && download.upstream == "app")
    let fill = try #require(rows.first { $0.kind == .fill })
    #expect(fill.done == 2 && fill.total == 4 && fill.upstream == "app" && fill.key != download.key)
    // The same transfers keep their keys; a filter and a limit hold.
    var query = TransferQuery()
    query.kinds = [.fill]
    #expect(try gather(pawl.server.transferSources, query).rows.map(\.key) == [fill.key])
    (query.kinds, query.limit) = ([], 1)
    let one = try gather(pawl.server.transferSources, query)
    #expect(one.rows.count == 1 && one.outcome.total == 2 && one.outcome.shown == 1)
    query.upstream = "other"
    #expect(try gather(pawl.server.transferSources, query).outcome.total == 0)
    gate.open()
    #expect(client.read(2) == Array("lf".utf8))
    pawl.waitUntil("nothing runs") { (try? gather(pawl.server.transferSources).outcome.total) == 0 }
    #expect(pawl.stop() == [])
  }

  @Test(
    "an ordinary upload: what came of it, then how much the origin has got", arguments: ["", "plain-uploads = spool"])
  func upload(_ site: String) throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .expect("123456789"), .wait(gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        .readToEnd,
      ])
    let pawl = try TestServer(origin) { $0.site = site }
    let client = pawl.connect()
    client.send("POST /f HTTP/1.1\r\nHost: site\r\nX-Request-Id: r\r\nContent-Length: 9\r\n\r\n1234")
    pawl.waitUntil("four bytes have come") {
      (try? gather(pawl.server.transferSources).rows).map { $0.map(\.done) == [4] } ?? false
    }
    let receiving = try #require(try gather(pawl.server.transferSources).rows.first)
    #expect(receiving.kind == .upload && receiving.state == .receiving && receiving.total == 9)
    #expect(receiving.id == Array("r".utf8) && receiving.target == Array("/f".utf8))
    client.send("56789")
    pawl.waitUntil("the origin has it") { origin.received.first?.suffix(9).elementsEqual("123456789".utf8) == true }
    let delivering = try #require(try gather(pawl.server.transferSources).rows.first)
    #expect(delivering.kind == .upload && delivering.state == .delivering)
    #expect(delivering.done == 9 && delivering.total == 9 && delivering.key == receiving.key)
    gate.open()
    #expect(client.readAnswer().status == 200)
    #expect(pawl.stop() == [])
  }

  @Test("without loops there is nothing")
  func nothing() throws {
    let (rows, outcome) = try gather([])
    #expect(rows.isEmpty && outcome.total == 0 && outcome.isComplete)
  }

  @Test("a loop that does not answer is left out when the patience is over")
  func silent() throws {
    let clock = ManualClock()
    let silent = TransferSource(loop: try EventLoop(index: 8)) { _, _ in }
    let (rows, outcome) = try gather([silent], clock: clock) { clock.advance(by: TransferGathering.patience) }
    #expect(rows.isEmpty && !outcome.isComplete)
  }
}

extension EventLoop {
  /// Begins something on this loop, then turns it while `condition` holds.
  fileprivate func turn(while condition: () -> Bool, began: () -> Void) {
    var hasBegun = false
    turn {
      if !hasBegun { began() }
      hasBegun = true
      return condition()
    }
  }
}
