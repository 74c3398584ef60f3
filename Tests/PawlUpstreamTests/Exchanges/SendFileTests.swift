import CLinux
import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlUpstream

/// A file without a name that holds the pattern's first bytes.
final class PatternFile {
  let descriptor: CInt

  init(_ count: Int) {
    descriptor = pawl_open("/tmp", O_RDWR | pawl_O_TMPFILE, 0o600)
    let bytes = OriginStep.pattern(from: 0, count: count)
    #expect(pwrite(descriptor, bytes, count, 0) == count)
  }

  deinit { close(descriptor) }
}

@Suite("Content from a file") struct SendFileTests {
  private func wire(_ origin: ScriptedOrigin) -> [UInt8] {
    let bytes = origin.received.first ?? []
    guard let end = bytes[...].firstRange(of: Array("\r\n\r\n".utf8)[...]) else { return [] }
    return Array(bytes[end.upperBound...])
  }

  @Test("prefix, file and suffix arrive byte for byte, at whatever speed", arguments: [0, 1, 100, 70_000, 9 << 20])
  func whole(_ count: Int) throws {
    let (prefix, suffix) = ("before", "behind")
    let total = count + 12
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .wait(gate), .read(total), .send(okay), .readToEnd])
    let bench = try Bench(origin)
    let file = PatternFile(count + 3)
    var story: [String] = []
    let recorder = bench.run(.request(.post, "/", .length(UInt64(total)))) { event, exchange in
      guard event == .connected || event == .wantsBody else { return }
      if story.isEmpty {
        exchange.send(prefix)
        story.append("file")
        let takesMore = exchange.sendFile(file.descriptor, at: 3, count: UInt64(count), keeping: file)
        if count > 8 << 20 { #expect(!takesMore) }
        gate.open()
        guard takesMore else { return }
      }
      guard story == ["file"] else { return }
      story.append("suffix")
      exchange.send(suffix)
    }
    #expect(recorder.story.last == "ended")
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
    #expect(wire(origin) == Array(prefix.utf8) + OriginStep.pattern(from: 3, count: count) + Array(suffix.utf8))
  }

  @Test("what is handed in behind a file waits for it, in either framing", arguments: [false, true])
  func behind(isChunked: Bool) throws {
    let count = 6 << 20
    let body = OriginStep.pattern(from: 0, count: count)
    let tail = "tail"
    let head = String(count, radix: 16) + "\r\n"
    let expected =
      isChunked
      ? Array(head.utf8) + body + Array("\r\n4\r\ntail\r\n0\r\n\r\n".utf8) : body + Array(tail.utf8)
    let origin = ScriptedOrigin(.tcp, [.expectHead, .read(expected.count), .send(okay), .readToEnd])
    let bench = try Bench(origin)
    let file = PatternFile(count)
    let framing: BodyFraming = isChunked ? .chunked : .length(UInt64(count + 4))
    let recorder = bench.run(.request(.post, "/", framing)) { event, exchange in
      guard event == .connected else { return }
      _ = exchange.sendFile(file.descriptor, at: 0, count: UInt64(count), keeping: file)
      exchange.send(tail)
      exchange.finishBody()
    }
    #expect(recorder.story.last == "ended")
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
    #expect(wire(origin) == expected)
  }

  @Test("whenFlushed comes when the socket has everything handed in, and not before")
  func flushed() throws {
    let count = 8 << 20
    let (gate, mayAnswer) = (Gate(), Gate())
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .wait(gate), .read(count - 1), .wait(mayAnswer), .read(1), .send(okay), .readToEnd])
    let bench = try Bench(origin)
    let file = PatternFile(count)
    let recorder = ExchangeRecorder()
    var isFlushed = false
    recorder.react = { event, exchange in
      guard event == .connected else { return }
      _ = exchange.sendFile(file.descriptor, at: 0, count: UInt64(count - 1), keeping: file)
      exchange.whenFlushed { isFlushed = true }
    }
    let exchange = bench.start(.request(.post, "/", .length(UInt64(count))), recorder)
    bench.turn { recorder.story.contains("connected") }
    bench.turnOnce()
    #expect(!isFlushed)
    gate.open()
    bench.turn { isFlushed }
    #expect(!recorder.isOver)
    mayAnswer.open()
    _ = exchange.sendFile(file.descriptor, at: UInt64(count - 1), count: 1, keeping: file)
    bench.turn { recorder.isOver }
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
    #expect(wire(origin) == OriginStep.pattern(from: 0, count: count))
  }

  @Test("a file that ends early breaks the exchange; the origin never has a whole request")
  func short() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .read(100), .open(gate), .readToEnd])
    let bench = try Bench(origin)
    let file = PatternFile(100)
    let recorder = bench.run(.request(.post, "/", .length(200))) { event, exchange in
      guard event == .connected else { return }
      _ = exchange.sendFile(file.descriptor, at: 0, count: 200, keeping: file)
    }
    #expect(
      recorder.story.filter { $0 != "wants body" } == ["connected", "broke proxy_internal_error before the head"])
    #expect(recorder.details == "the file ends 100 bytes early")
    #expect(gate.wait())
    #expect(origin.finish() == [])
    #expect(wire(origin).count == 100)
  }

  @Test("a refusal ends the sending and lets go of the file")
  func refused() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno"), .readToEnd])
    let bench = try Bench(origin)
    weak var watched: PatternFile?
    var file: PatternFile? = PatternFile(64 << 20)
    watched = file
    let recorder = ExchangeRecorder()
    recorder.react = { event, exchange in
      guard event == .connected, let present = file else { return }
      _ = exchange.sendFile(present.descriptor, at: 0, count: 64 << 20, keeping: present)
      file = nil
    }
    bench.start(.request(.post, "/", .length(64 << 20)), recorder)
    bench.turn { recorder.isOver }
    #expect(recorder.story.filter { $0 != "wants body" } == ["connected", "head 413 length(2)", "body no", "ended"])
    #expect(watched == nil)
    #expect(origin.finish() == [])
  }

  @Test("more than was announced is not sent")
  func tooMuch() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .readToEnd])
    let bench = try Bench(origin)
    let file = PatternFile(100)
    let recorder = bench.run(.request(.put, "/", .length(50))) { event, exchange in
      guard event == .connected else { return }
      #expect(!exchange.sendFile(file.descriptor, at: 0, count: 51, keeping: file))
    }
    #expect(recorder.story == ["connected", "broke proxy_internal_error before the head"])
    #expect(origin.finish() == [])
  }

  @Test("an origin that takes nothing for the idle timeout counts as broken")
  func patience() throws {
    let clock = ManualClock()
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .wait(gate), .readToEnd])
    let bench = try Bench(origin, clock: clock)
    let file = PatternFile(64 << 20)
    let recorder = ExchangeRecorder()
    recorder.react = { event, exchange in
      guard event == .connected else { return }
      #expect(!exchange.sendFile(file.descriptor, at: 0, count: 64 << 20, keeping: file))
    }
    let exchange = bench.start(.request(.post, "/", .length(64 << 20)), recorder)
    bench.turn { recorder.story == ["connected"] }
    #expect(exchange.patience == .write)
    // What the kernel's buffers still take is progress.
    for _ in 0..<200 { bench.turnOnce() }
    clock.advance(by: .seconds(61))
    bench.turn { recorder.isOver }
    #expect(recorder.story.last == "broke connection_write_timeout before the head")
    gate.open()
    #expect(origin.finish() == [])
  }

  @Test("a request that wants a connection of its own gets one; another takes the idle one")
  func fresh() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send(okay), .readToEnd], [.expectHead, .send(okay), .expectHead, .send(okay), .readToEnd])
    let bench = try Bench(origin)
    #expect(bench.run(.get()).story.last == "ended")
    var request = OriginRequest.request(.put, "/", .length(0))
    request.wantsFreshConnection = true
    #expect(bench.run(request).story.last == "ended")
    #expect(origin.acceptedCount == 2)
    #expect(bench.run(.get()).story.last == "ended")
    #expect(origin.acceptedCount == 2)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("a held head goes when it is released; an origin that closes meanwhile has seen nothing")
  func heldHead() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expect("PUT / HTTP/1.1\r\nHost: site\r\nContent-Length: 0\r\n\r\n"), .send(okay), .readToEnd], [])
    let bench = try Bench(origin)
    var request = OriginRequest.request(.put, "/", .length(0))
    (request.wantsFreshConnection, request.holdsHead) = (true, true)
    let recorder = ExchangeRecorder()
    let exchange = bench.start(request, recorder)
    bench.turn { recorder.story == ["connected"] }
    bench.turnOnce()
    #expect(!exchange.requestBytesSent && origin.received.allSatisfy(\.isEmpty))
    exchange.releaseHead()
    bench.turn { recorder.isOver }
    #expect(recorder.story == ["connected", "head 200 length(2)", "body ok", "ended"])
    #expect(bench.run(request).story == ["connected", "broke connection_terminated before the head, nothing sent"])
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }
}
