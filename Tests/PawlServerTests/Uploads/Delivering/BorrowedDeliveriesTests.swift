import CLinux
import PawlLoop
import PawlTestKit
import PawlUpload
import PawlUploadStore
import Testing

@testable import PawlServer

@Suite("Deliveries that the process before this one makes", .timeLimit(.minutes(1))) struct BorrowedDeliveriesTests {
  /// A server that has borrowed a delivery of another one, which does not say a word more; and the end of its socket.
  private func borrowing(
    _ bench: LendingBench, site: String = ""
  ) throws -> (new: TestServer, end: CInt) {
    _ = bench.upload()
    bench.waitFor(.sent, at: bench.old)
    let new = try bench.successor(bench.handOver(), site: site)
    var pair: [CInt] = [-1, -1]
    try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    let (borrowed, loop, far) = (try bench.borrowed(new), new.server.loops[0].loop, pair[1])
    _ = loop.answer { borrowed.connect(far, on: loop) }
    return (new, pair[0])
  }

  private func frame(_ message: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt64(message.count).bigEndian) { Array($0) } + message
  }

  @Test(
    "what the other process had sent when it ended is unknown, or is sent again where the route says so",
    arguments: [false, true])
  func ends(isAgain: Bool) throws {
    let again: [[OriginStep]] = isAgain ? [[.expectHead, .read(5), .send(UploadTalk.ok), .readToEnd]] : []
    let bench = try LendingBench([[.expectHead, .read(5), .readToEnd]] + again)
    let (new, end) = try borrowing(bench, site: isAgain ? "delivery = at-least-once" : "")
    #expect(bench.phases(new) == [.sent])
    close(end)
    bench.waitFor(isAgain ? .answered : .unknown, at: new)
    #expect(new.events("delivery-lost").count == 1 && new.events("delivery-lost")[0].contains(" sent=yes "))
    #expect(!new.server.isBorrowing)
    new.stop()
    bench.old.stop()
  }

  @Test("nonsense ends the line and the loan", arguments: [[UInt8(9)], [2, 0], []])
  func nonsense(_ message: [UInt8]) throws {
    let bench = try LendingBench([[.expectHead, .read(5), .readToEnd]])
    let (new, end) = try borrowing(bench)
    let bytes = frame(message)
    #expect(write(end, bytes, bytes.count) == bytes.count)
    bench.waitFor(.unknown, at: new)
    var byte: UInt8 = 0
    #expect(read(end, &byte, 1) == 0)
    close(end)
    new.stop()
    bench.old.stop()
  }

  @Test("a step of an upload that is not lent is not recorded, and the reply says so")
  func foreign() throws {
    let bench = try LendingBench([[.expectHead, .read(5), .readToEnd]])
    let (new, end) = try borrowing(bench)
    let bytes = frame(LentMessage.sample)
    #expect(write(end, bytes, bytes.count) == bytes.count)
    let wanted = frame(LentMessage.recorded(0, false).serialize())
    var reply = [UInt8](repeating: 0, count: wanted.count)
    #expect(read(end, &reply, reply.count) == wanted.count && reply == wanted)
    #expect(bench.phases(new) == [.sent])
    close(end)
    new.stop()
    bench.old.stop()
  }

  @Test("an upload that comes back is delivered by this process after the pause; the client is asked to come back")
  func comesBack() throws {
    let (gate, again) = (Gate(), "delivery = at-least-once")
    let bench = try LendingBench(
      [
        [.expectHead, .read(5), .wait(gate), .reset],
        [.expectHead, .read(5), .send(UploadTalk.ok), .readToEnd],
      ], site: again)
    let (client, target) = bench.upload()
    bench.waitFor(.sent, at: bench.old)
    let new = try bench.successor(bench.handOver(), site: again)
    try bench.connect(new)
    gate.open()
    #expect(client.readAnswer().values("Upload-Complete", "Retry-After") == ["?0", "5"])
    client.close()
    new.advancing { bench.waitFor(.answered, at: new) }
    #expect(UploadTalk(new, bench.origin).ask("GET \(target)", "Upload-Draft-Interop-Version: 9").text == "done")
    #expect(bench.old.events("upload-forward-failed").filter { $0.contains(" attempt=1 ") }.count == 1)
    #expect(new.events("upload-forwarding").count == 1)
    new.stop()
    #expect(bench.old.stop() == [])
  }

  @Test("stored responses that the answer makes out of date are invalidated here")
  func invalidates() throws {
    let gate = Gate()
    func page(_ text: String) -> [OriginStep] {
      let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 1\r\nConnection: close\r\n\r\n"
      return [.expectHead, .send(head + text), .halfClose, .readToEnd]
    }
    let bench = try LendingBench(
      all: [
        page("1"), UploadTalk.probe, [.expectHead, .read(5), .wait(gate), .send(UploadTalk.ok), .readToEnd], page("2"),
      ])
    #expect(bench.old.get().text == "1")
    let (client, _) = bench.upload()
    bench.waitFor(.sent, at: bench.old)
    let new = try bench.successor(bench.handOver())
    #expect(new.get().text == "1")
    try bench.connect(new)
    gate.open()
    #expect(client.readAnswer().text == "done")
    #expect(new.get().text == "2")
    client.close()
    new.stop()
    #expect(bench.old.stop() == [])
  }
}
