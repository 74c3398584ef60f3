import CLinux
import PawlLoop
import PawlTestKit
import PawlUpload
import PawlUploadStore
import Testing

@testable import PawlServer

/// A server that delivers an upload of five bytes, and one that takes its folder over from it.
struct LendingBench {
  let folder: TemporaryFolder
  let origin: ScriptedOrigin
  let talk: UploadTalk
  let lender = LentDeliveries()

  var old: TestServer { talk.pawl }

  /// - Parameter scripts: what the origin does after the probe.
  init(_ scripts: [[OriginStep]], site: String = "") throws {
    try self.init(all: [UploadTalk.probe] + scripts, site: site)
  }

  init(all scripts: [[OriginStep]], site: String = "") throws {
    folder = try TemporaryFolder()
    talk = try UploadTalk(scripts: scripts, in: folder, site: site)
    origin = talk.origin
  }

  /// A client that has sent all and waits; and the target of its upload.
  func upload() -> (client: ScriptedClient, target: String) {
    let client = old.connect()
    client.send(
      talk.head(
        "POST /f", ["Upload-Draft-Interop-Version: 9", "Upload-Complete: ?1", "Expect: 100-continue"], length: 5))
    var target = ""
    while true {
      let head = client.readHead()
      if target.isEmpty { target = uploadTarget(head) }
      guard !head.hasPrefix("HTTP/1.1 100 ") else { break }
    }
    client.send("hello")
    return (client, target)
  }

  func phases(_ pawl: TestServer) -> [UploadPhase] {
    pawl.server.parts.withLock { $0.spools.stores }.flatMap(\.uploads).map(\.status.phase)
  }

  func waitFor(_ phase: UploadPhase, at pawl: TestServer, sourceLocation: SourceLocation = #_sourceLocation) {
    pawl.waitUntil("\(phase)", sourceLocation: sourceLocation) { phases(pawl) == [phase] }
  }

  func handOver() -> Set<UploadID> {
    old.onLoop { $0.uploads.queue.hold() }
    return old.server.handOver(lendingTo: lender)
  }

  func successor(_ lent: Set<UploadID>, site: String = "") throws -> TestServer {
    try TestServer(url: "http://127.0.0.1:\(origin.port)", in: folder, lent: lent) { changes in
      changes.site = "min-resumable = 4\n\(site)"
      changes.more = "[spool:default]\nmax-size = 64M"
    }
  }

  func borrowed(_ pawl: TestServer) throws -> BorrowedDeliveries {
    try #require(pawl.server.borrowed.withLock { $0.first })
  }

  /// Connects both, as two processes are.
  func connect(_ new: TestServer) throws {
    var pair: [CInt] = [-1, -1]
    try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    old.server.lend(lender, over: pair[0], on: old.server.loops[0].loop)
    let (borrowed, loop, far) = (try borrowed(new), new.server.loops[0].loop, pair[1])
    _ = loop.answer { borrowed.connect(far, on: loop) }
  }

  func status(_ pawl: TestServer, _ target: String) -> Answer {
    UploadTalk(pawl, origin).ask("HEAD \(target)", "Upload-Draft-Interop-Version: 9")
  }
}

@Suite("Deliveries that are lent", .timeLimit(.minutes(1))) struct LentDeliveriesTests {
  @Test("the client gets the answer when the new server has recorded it; the origin gets one request")
  func answered() throws {
    let gate = Gate()
    let bench = try LendingBench([[.expectHead, .read(5), .wait(gate), .send(UploadTalk.ok), .readToEnd]])
    let (client, target) = bench.upload()
    bench.waitFor(.sent, at: bench.old)
    let lent = bench.handOver()
    #expect(lent.count == 1 && bench.old.events("deliveries-lent") == ["notice deliveries-lent count=1"])
    let new = try bench.successor(lent)
    #expect(bench.phases(new) == [.sent] && new.server.isBorrowing)
    #expect(bench.status(new, target).values("Upload-Offset", "Upload-Complete") == ["5", "?0"])
    // The answer waits for a process that records it.
    gate.open()
    bench.old.settle()
    #expect(bench.phases(new) == [.sent])
    try bench.connect(new)
    let answer = client.readAnswer()
    #expect(answer.status == 200 && answer.text == "done" && answer["X-App"] == "yes")
    #expect(bench.phases(new) == [.answered] && !new.server.isBorrowing)
    #expect(UploadTalk(new, bench.origin).ask("GET \(target)", "Upload-Draft-Interop-Version: 9").text == "done")
    #expect(bench.old.events("upload-answered").count == 1 && new.events("upload-answered").isEmpty)
    client.close()
    new.stop()
    #expect(bench.old.stop() == [])
  }

  @Test("when the new server has gone they are cut, their clients are asked to come back, and nothing is recorded")
  func lost() throws {
    let gate = Gate()
    let bench = try LendingBench([[.expectHead, .read(5), .wait(gate), .readToEnd]])
    let (client, _) = bench.upload()
    bench.waitFor(.sent, at: bench.old)
    let new = try bench.successor(bench.handOver())
    try bench.connect(new)
    let drained = Gate()
    bench.old.server.drain { drained.open() }
    bench.old.settle()
    #expect(!drained.isOpen)
    try bench.borrowed(new).closeLine()
    let answer = client.readAnswer()
    #expect(answer.values("Upload-Complete", "Retry-After") == ["?0", "5"])
    client.close()
    #expect(drained.wait())
    #expect(
      bench.old.events("deliveries-cut") == [
        "warning deliveries-cut count=1 why=\"the new process has ended\""
      ])
    #expect(bench.phases(new) == [.sent])
    gate.open()
    // Steps that come now are not recorded, and say so at once.
    let said = TestLock<[Bool]>([])
    let step = try #require(LentMessage(serialized: LentMessage.sample))
    if case .step(_, let step) = step {
      bench.lender.record(step) { isRecorded in said.withLock { $0.append(isRecorded) } }
    }
    #expect(said.withLock { $0 } == [false])
    new.stop()
    #expect(bench.old.stop() == [])
  }

  @Test("go on in the server that takes its spools back, and are not begun a second time", arguments: [false, true])
  func takenBack(isSent: Bool) throws {
    let gate = Gate()
    let steps: [OriginStep] = isSent ? [.read(5), .wait(gate)] : [.wait(gate), .read(5)]
    let bench = try LendingBench([[.expectHead] + steps + [.send(UploadTalk.ok), .readToEnd]])
    let (client, target) = bench.upload()
    bench.waitFor(.sent, at: bench.old)
    let lent = bench.handOver()
    try bench.old.server.takeBack(lent, from: bench.lender)
    #expect(bench.phases(bench.old) == [.sent] && bench.old.server.isBorrowing)
    #expect(bench.status(bench.old, target)["Upload-Offset"] == "5")
    gate.open()
    #expect(client.readAnswer().text == "done")
    #expect(bench.phases(bench.old) == [.answered] && !bench.old.server.isBorrowing)
    client.close()
    #expect(bench.old.stop() == [])
  }

  @Test("an attempt is lent once it sends; before that an upgrade waits for it")
  func lendable() throws {
    let gate = Gate()
    let bench = try LendingBench([[.expectHead, .read(5), .wait(gate), .send(UploadTalk.ok), .readToEnd]])
    #expect(bench.old.onLoop { $0.uploads.queue.isLendable } == true)
    let (client, _) = bench.upload()
    bench.waitFor(.sent, at: bench.old)
    #expect(bench.old.onLoop { $0.uploads.queue.isLendable } == true)
    let unready = bench.old.onLoop { loop in
      guard let attempt = loop.uploads.queue.running.values.first else { return true }
      let phase = attempt.phase
      defer { attempt.phase = phase }
      attempt.phase = .preparing(nil)
      return loop.uploads.queue.isLendable
    }
    #expect(unready == false)
    // A new binary that cannot borrow is not waited for longer than the limit.
    #expect(!bench.old.server.holdDeliveries(within: .milliseconds(10), lending: false))
    #expect(bench.old.server.holdDeliveries(within: .milliseconds(10), lending: true, atMost: 1))
    #expect(!bench.old.server.holdDeliveries(within: .milliseconds(10), lending: true, atMost: 0))
    bench.old.server.releaseDeliveries()
    gate.open()
    #expect(client.readAnswer().text == "done")
    client.close()
    #expect(bench.old.stop() == [])
  }
}

extension LentMessage {
  /// A step of an upload that no spool has: that its outcome is unknown.
  static let sample: [UInt8] = {
    let numbers = [UInt8](repeating: 0, count: 8)
    let missing = [0] + numbers
    var bytes: [UInt8] = [1] + numbers + numbers + numbers
    bytes += [0, 0, 0, 0, 0, 0, 0, 4] + [1] + numbers
    for _ in 0..<4 { bytes += missing }
    for _ in 0..<3 { bytes += missing }
    return bytes + [0] + missing + [0]
  }()
}
