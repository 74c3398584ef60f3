import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("An answer between the origin and its reader") struct ResponseBufferTests {
  private final class Holder: ResponseBufferSource {
    var resumed = 0
    var ready = 0
    func bufferTakesMore() { resumed += 1 }
    func bufferIsReady() { ready += 1 }
  }

  private static let chunk = [UInt8](repeating: 7, count: 64 << 10)

  private func append(_ buffer: ResponseBuffer) -> Flow { Self.chunk.withUnsafeBytes { buffer.append($0) } }

  private func take(_ buffer: ResponseBuffer) -> Int {
    var count = 0
    while case .memory(_, let range)? = buffer.next(limit: 10_000) { count += range.count }
    return count
  }

  @Test("one that is taken as it comes stays in memory, and slows the origin at 256 KiB")
  func fast() throws {
    let bench = try ServerBench()
    let (buffer, holder) = (ResponseBuffer(for: bench.request()), Holder())
    buffer.holder = holder
    for _ in 0..<3 { #expect(append(buffer) == .goOn) }
    #expect(append(buffer) == .pause && buffer.isPaused && holder.resumed == 0)
    #expect(take(buffer) == 256 << 10 && holder.resumed == 1 && !buffer.isPaused)
    bench.pass(.seconds(1))
    #expect(!buffer.hasOverflow)
    buffer.removeAll()
  }

  @Test(
    "one whose reader is slow is read on after 100 ms, up to max-response-buffer; then he counts",
    arguments: [(512 << 10, 4), (0, 0)])
  func slow(_ limit: Int, _ more: Int) throws {
    let bench = try ServerBench { $0.site = "max-response-buffer = \(limit)" }
    let (buffer, holder) = (ResponseBuffer(for: bench.request()), Holder())
    buffer.holder = holder
    while append(buffer) == .goOn {}
    bench.pass(.milliseconds(99))
    #expect(!buffer.hasOverflow && holder.resumed == 0)
    bench.pass(.milliseconds(1))
    #expect(holder.resumed == (limit == 0 ? 0 : 1))
    guard limit > 0 else { return buffer.removeAll() }
    for _ in 0..<more { #expect(append(buffer) == .goOn) }
    #expect(append(buffer) == .pause && buffer.isPaused)
    let space = try #require(bench.route.bufferSpace)
    #expect(space.budget.usedBytes == UInt64((4 + more) * Self.chunk.count))
    #expect(take(buffer) == (4 + more + 1) * Self.chunk.count)
    // The reader has caught up: from memory again.
    #expect(holder.resumed == 2 && !buffer.hasOverflow && space.budget.usedBytes == 0)
    #expect(append(buffer) == .goOn && take(buffer) == Self.chunk.count)
    buffer.removeAll()
  }

  @Test("beyond 16 MiB it is read on only while places run short")
  func calm() throws {
    let bench = try ServerBench { $0.upstream = "max-connections = 1" }
    let (buffer, holder) = (ResponseBuffer(for: bench.request()), Holder())
    buffer.holder = holder
    while append(buffer) == .goOn {}
    bench.pass(.milliseconds(100))
    #expect(buffer.hasOverflow && holder.resumed == 1)
    // No faster than a loop may.
    for _ in 1..<SpillPace.limit / Self.chunk.count { #expect(append(buffer) == .goOn) }
    #expect(append(buffer) == .pause && holder.resumed == 1)
    bench.pass(SpillPace.stretch)
    #expect(holder.resumed == 2)
    for _ in SpillPace.limit / Self.chunk.count..<Int(ResponseBuffer.calmLimit) / Self.chunk.count {
      if append(buffer) == .pause { bench.pass(SpillPace.stretch) }
    }
    let resumed = holder.resumed
    #expect(buffer.isPaused)
    bench.pass(.seconds(1))
    #expect(holder.resumed == resumed)
    let pool = bench.services.pool(for: bench.route.upstream)
    let probe = bench.request()
    let (first, second) = (UncachedExchange(probe, channel: Silent()), UncachedExchange(probe, channel: Silent()))
    for each in [first, second] { each.start() }
    bench.turn { pool.upstream.isCrowded }
    bench.pass(.milliseconds(100))
    #expect(holder.resumed == resumed + 1)
    for each in [first, second] { each.clientLeft() }
    buffer.removeAll()
  }

  private final class Silent: ResponseChannel {
    var hasResponded: Bool { false }
    var hasClientEnded: Bool { false }
    func interim(_ head: ResponseHead) {}
    func respond(_ head: consuming ResponseHead, length: ContentLength, body: (any BodySource)?) {}
    func resumeRequestBody() {}
    func drainRequestBody() {}
    func abandon(_ end: BodyEnd) {}
    func upgrade(_ head: ResponseHead, to stream: SocketStream, leftover: [UInt8], holding: AnyObject) {}
  }

  @Test("a slow reader of an answer that nobody keeps gets every byte, and the origin's connection is free before")
  func whole() throws {
    let size = 24 << 20
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: \(size)\r\n\r\n"),
        .sendPattern(count: size), .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .readToEnd,
      ])
    // Time moves on by as much as the two threads make of it: nothing else may end by it.
    let pawl = try TestServer(origin) { changes in
      changes.upstream = "max-connections = 1\nqueue-timeout = 1d\nidle-timeout = 1d\nresponse-timeout = 1d"
      changes.listen = "send-timeout = 1d\nheader-timeout = 1d\nkeepalive-timeout = 1d"
    }
    let client = pawl.connect(receiveBuffer: 4096)
    client.send(TestServer.request())
    // It has the place before the other one asks.
    pawl.waitUntil("the answer is on its way") { !client.isQuiet }
    let other = pawl.connect()
    other.send(TestServer.request("/other"))
    pawl.waitUntil("the place is free") {
      pawl.clock.advance(by: .milliseconds(5))
      pawl.settle()
      return !other.isQuiet
    }
    #expect(other.readAnswer().text == "ok")
    let answer = client.readAnswer()
    #expect(answer.isWhole && answer.content == OriginStep.pattern(from: 0, count: size))
    for each in [client, other] { each.close() }
    #expect(pawl.stop() == [])
  }

  private func append(_ count: Int, to buffer: ResponseBuffer) -> Flow {
    [UInt8](repeating: 7, count: count).withUnsafeBytes { buffer.append($0) }
  }

  @Test("where memory has no room, 32 KiB wait there; one byte more, and all is in a file")
  func scarce() throws {
    let bench = try ServerBench()
    bench.exhaustMemory()
    let (buffer, holder, free) = (ResponseBuffer(for: bench.request()), Holder(), ResponseBuffer.free.connection)
    buffer.holder = holder
    #expect(append(free, to: buffer) == .goOn && !buffer.hasOverflow)
    #expect(append(1, to: buffer) == .goOn && buffer.hasOverflow && buffer.count == 0 && !buffer.isPaused)
    let space = try #require(bench.route.bufferSpace)
    #expect(space.budget.usedBytes == UInt64(free + 1) && bench.loop.readLimit == EventLoop.readBufferSize)
    #expect(take(buffer) == free + 1 && !buffer.hasOverflow && space.budget.usedBytes == 0)
    buffer.removeAll()
  }

  @Test("where there is no file either, the origin waits, and little is read at a time")
  func scarceWithoutFile() throws {
    let bench = try ServerBench { $0.site = "max-response-buffer = 0" }
    bench.exhaustMemory()
    let (buffer, holder, free) = (ResponseBuffer(for: bench.request()), Holder(), ResponseBuffer.free.connection)
    buffer.holder = holder
    #expect(append(free + 1, to: buffer) == .pause && buffer.isPaused)
    #expect(bench.loop.readLimit == LoopServices.scarceRead)
    #expect(take(buffer) == free + 1 && holder.resumed == 1 && !buffer.isPaused)
    #expect(bench.loop.readLimit == EventLoop.readBufferSize)
    buffer.removeAll()
  }

  @Test("what the reader took last counts until he asks for more")
  func handedOut() throws {
    let bench = try ServerBench()
    let (buffer, holder) = (ResponseBuffer(for: bench.request()), Holder())
    buffer.holder = holder
    #expect(append(buffer) == .goOn && bench.services.memory.allowance < BufferMemory.allowance)
    #expect(buffer.next(limit: .max) != nil && bench.services.memory.allowance < BufferMemory.allowance)
    #expect(buffer.next(limit: .max) == nil && bench.services.memory.allowance == BufferMemory.allowance)
    buffer.removeAll()
  }
}
