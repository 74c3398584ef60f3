import PawlHTTP
import PawlLoop
import PawlTestKit
import PawlUploadStore
import Testing

@testable import PawlServer

@Suite("Ordinary uploads that are spooled first") struct SpooledForwardExchangeTests {
  /// Reads an answer's body to its end, on the loop.
  final class Channel: ResponseChannel, BodyConsumer {
    var interims: [Int] = []
    var head: ResponseHead?
    var text = ""
    var isOver = false
    private var source: (any BodySource)?
    var hasResponded: Bool { head != nil }
    var hasClientEnded: Bool { false }

    func interim(_ head: ResponseHead) { interims.append(head.status) }
    func respond(_ head: ResponseHead, length: ContentLength, body: (any BodySource)?) {
      (self.head, source) = (head, body)
      source?.consumer = self
      bodyIsReady()
    }
    var resumed = 0
    func resumeRequestBody() { resumed += 1 }
    func drainRequestBody() {}
    func abandon(_ end: BodyEnd) {}
    func upgrade(_ head: ResponseHead, to stream: SocketStream, leftover: [UInt8], holding: AnyObject) {}

    func bodyIsReady() {
      while let source {
        guard case .memory(let bytes, let range) = source.next(limit: 1000) else { break }
        text += String(decoding: bytes[range], as: UTF8.self)
      }
      guard let source else { return isOver = true }
      if case .end = source.next(limit: 1) { isOver = true }
    }
  }

  /// A spool; what it has in use; where it lives.
  private func spool(
    _ bench: ServerBench, capacity: UInt64 = 1 << 30
  ) throws -> (PlainSpool, UploadStore, TemporaryFolder) {
    let folder = try TemporaryFolder()
    let pool = bench.services.pool
    let settings = UploadStoreSettings(
      name: "test", path: folder.path, maxSize: capacity, minFree: 0, maxSharePerClient: 100)
    let store = try UploadStore(settings, pool: pool, events: bench.services.events, clock: bench.running.clock)
    return (PlainSpool(directory: folder.path, store: store, pool: pool), store, folder)
  }

  private func give(_ bytes: [UInt8], to exchange: SpooledForwardExchange) {
    for start in stride(from: 0, to: bytes.count, by: 50_000) {
      bytes[start..<min(bytes.count, start + 50_000)].withUnsafeBytes { #expect(exchange.requestBody($0)) }
    }
  }

  @Test("the origin gets one request with its length, whatever way the content came", arguments: [0, 1, 5 << 20])
  func forwarded(_ count: Int) throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .read(count), .send("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"), .readToEnd])
    let bench = try ServerBench(url: "http://127.0.0.1:\(origin.port)")
    let (spool, store, folder) = try spool(bench)
    let channel = Channel()
    let request = bench.request(.post, "/f", [(.expect, "100-continue")], framing: .chunked)
    let exchange = SpooledForwardExchange(request, channel: channel, spool: spool, maxUpload: nil)
    exchange.start()
    #expect(channel.interims == [100])
    let bytes = OriginStep.pattern(from: 0, count: count)
    give(bytes, to: exchange)
    #expect(store.usedBytes == UInt64(count) && origin.acceptedCount == 0)
    exchange.requestBodyEnded(Fields())
    bench.turn { channel.isOver }
    #expect(channel.head?.status == 201 && channel.text == "ok")
    exchange.clientLeft()
    bench.serverLoop.closeOrigins()
    #expect(origin.finish() == [])
    let sent = origin.received[0]
    let head = String(decoding: sent.prefix(sent.count - count), as: UTF8.self)
    #expect(head.contains("\r\nContent-Length: \(count)\r\n"))
    #expect(!head.contains("Expect") && !head.contains("chunked"))
    #expect(Array(sent.suffix(count)) == bytes)
    store.close()
    withExtendedLifetime(folder) {}
  }

  @Test("where writes are slow the loop goes on, and what comes meanwhile keeps its order")
  func slowWrites() throws {
    let bytes = OriginStep.pattern(from: 0, count: 300_000)
    let origin = ScriptedOrigin(
      .tcp,
      [.expectHead, .read(bytes.count), .send("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"), .readToEnd])
    let bench = try ServerBench(url: "http://127.0.0.1:\(origin.port)")
    let (spool, store, folder) = try spool(bench)
    bench.services.noteWrite(.seconds(1))
    let channel = Channel()
    let request = bench.request(.post, "/f", framing: .chunked)
    let exchange = SpooledForwardExchange(request, channel: channel, spool: spool, maxUpload: nil)
    exchange.start()
    for start in stride(from: 0, to: bytes.count, by: 50_000) {
      // Whoever goes on after a no is not forgotten, either.
      bytes[start..<start + 50_000].withUnsafeBytes { #expect(!exchange.requestBody($0)) }
    }
    #expect(channel.resumed == 0)
    bench.turn { channel.resumed == 1 }
    #expect(store.usedBytes == UInt64(bytes.count))
    [7].withUnsafeBytes { #expect(!exchange.requestBody($0)) }
    exchange.clientLeft()
    bench.turn { store.usedBytes == 0 }
    #expect(!channel.hasResponded)
    let (second, other) = (Channel(), bench.request(.post, "/f", framing: .chunked))
    let whole = SpooledForwardExchange(other, channel: second, spool: spool, maxUpload: nil)
    whole.start()
    bytes.withUnsafeBytes { #expect(!whole.requestBody($0)) }
    whole.requestBodyEnded(Fields())
    #expect(origin.acceptedCount == 0)
    bench.turn { second.isOver }
    #expect(second.head?.status == 201 && second.text == "ok" && second.resumed == 0)
    whole.clientLeft()
    bench.serverLoop.closeOrigins()
    #expect(origin.finish() == [])
    #expect(Array(origin.received[0].suffix(bytes.count)) == bytes)
    store.close()
    withExtendedLifetime(folder) {}
  }

  @Test("a client that breaks off is never seen by the origin, and gives back its room")
  func brokenOff() throws {
    let bench = try ServerBench()
    let (spool, store, folder) = try spool(bench)
    let channel = Channel()
    let request = bench.request(.post, "/f", framing: .length(100))
    let exchange = SpooledForwardExchange(request, channel: channel, spool: spool, maxUpload: nil)
    exchange.start()
    give([1, 2, 3], to: exchange)
    #expect(store.usedBytes == 3)
    exchange.clientLeft()
    #expect(store.usedBytes == 0)
    #expect(!channel.hasResponded)
    store.close()
    withExtendedLifetime(folder) {}
  }

  @Test(
    "what is too large is refused, at once where its length is known",
    arguments: [
      (BodyFraming.length(11), 0, 413), (.chunked, 11, 413), (.length(10), 10, 0), (.chunked, 10, 0),
    ])
  func tooLarge(_ framing: BodyFraming, _ count: Int, _ status: Int) throws {
    let bench = try ServerBench()
    for maxUpload: UInt64? in [10, nil] {
      let (spool, store, folder) = try spool(bench, capacity: maxUpload == nil ? 10 : 100)
      let channel = Channel()
      let request = bench.request(.post, "/f", framing: framing)
      let exchange = SpooledForwardExchange(request, channel: channel, spool: spool, maxUpload: maxUpload)
      exchange.start()
      give([UInt8](repeating: 1, count: count), to: exchange)
      let full = maxUpload == nil && framing == .chunked && status != 0
      #expect(channel.head?.status ?? 0 == (full ? 507 : status))
      exchange.clientLeft()
      store.close()
      withExtendedLifetime(folder) {}
    }
  }

  @Test("streams stay streams")
  func takes() {
    func head(_ framing: BodyFraming, _ fields: [(FieldName, String)] = []) -> RequestHead {
      RequestHead(method: .post, target: Bytes("/"), fields: Fields(fields), framing: framing)
    }
    #expect(SpooledForwardExchange.takes(head(.chunked)) && SpooledForwardExchange.takes(head(.length(1))))
    #expect(!SpooledForwardExchange.takes(head(.none)) && !SpooledForwardExchange.takes(head(.length(0))))
    #expect(!SpooledForwardExchange.takes(head(.chunked, [(.incremental, "?1")])))
    #expect(SpooledForwardExchange.takes(head(.chunked, [(.incremental, "?0")])))
    #expect(!SpooledForwardExchange.takes(head(.chunked, [(.contentType, "application/grpc+proto")])))
    #expect(!SpooledForwardExchange.takes(head(.chunked, [(.upgrade, "x")])))
  }
}
