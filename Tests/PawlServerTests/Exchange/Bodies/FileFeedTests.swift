import CLinux
import PawlHTTP
import PawlLoop
import PawlTestKit
import PawlUpstream
import Testing

@testable import PawlServer

@Suite("A file on its way to an origin") struct FileFeedTests {
  private final class Sender: OriginExchangeDelegate {
    let feed: FileFeed
    var isOver = false
    var waits = 0

    init(_ feed: FileFeed) { self.feed = feed }

    func exchangeConnected(_ exchange: OriginExchange) { exchangeWantsBody(exchange) }
    func exchangeWantsBody(_ exchange: OriginExchange) {
      let isDone = feed.send(to: exchange) { [unowned self] in
        waits += 1
        exchangeWantsBody(exchange)
      }
      #expect(!isDone || feed.isDone)
    }
    func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming) {}
    func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer) {}
    func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) { isOver = true }
    func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) { isOver = true }
  }

  @Test(
    "arrives byte for byte, whether it is in memory or on disk",
    arguments: [(1, false), (9 << 20, false), (9 << 20, true)])
  func whole(_ count: Int, isCold: Bool) throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .read(count), .send(created), .readToEnd])
    let bench = try ServerBench(url: "http://127.0.0.1:\(origin.port)")
    let folder = try TemporaryFolder()
    let file = try #require(TemporaryFile(in: folder.path, pool: bench.services.pool))
    let bytes = OriginStep.pattern(from: 0, count: count + 5)
    #expect(bytes.withUnsafeBytes { file.write($0, at: 0) })
    if isCold {
      fdatasync(file.descriptor)
      posix_fadvise(file.descriptor, 0, 0, CInt(POSIX_FADV_DONTNEED))
    }
    let feed = FileFeed(
      file.descriptor, 5..<UInt64(count + 5), keeping: file, on: bench.loop, pool: bench.services.pool)
    let sender = Sender(feed)
    let head = RequestHead(
      method: .post, target: Bytes("/"), authority: Bytes("site"), framing: .length(UInt64(count)))
    let exchange = bench.services.pool(for: bench.route.upstream).start(
      OriginRequest(head: head, use: .passThrough), delegate: sender)
    bench.turn { sender.isOver }
    withExtendedLifetime(exchange) {}
    bench.serverLoop.closeOrigins()
    #expect(origin.finish() == [])
    #expect(Array((origin.received.first ?? []).suffix(count)) == Array(bytes[5...]))
  }
}
