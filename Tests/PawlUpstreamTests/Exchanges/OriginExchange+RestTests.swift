import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlUpstream

@Suite("Requests that may be sent once only") struct OriginExchangeRestTests {
  @Test("an answer that the request outlives is over when the request is whole", arguments: ["close", "keep-alive"])
  func outlives(_ option: String) throws {
    let answer = "HTTP/1.1 200 OK\r\nConnection: \(option)\r\nContent-Length: 2\r\n\r\nok"
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .read(5), .send(answer), .wait(gate), .read(5), .readToEnd])
    let bench = try Bench(origin)
    var request = OriginRequest.request(.post, "/", .length(10))
    request.outlivesAnswer = { $0 == 200 }
    let recorder = ExchangeRecorder()
    recorder.react = { event, exchange in
      if event == .connected { #expect(Array("hello".utf8).withUnsafeBytes { exchange.sendBody($0) }) }
    }
    let exchange = bench.start(request, recorder)
    bench.turn { exchange.hasWholeAnswer }
    #expect(exchange.stillSends && recorder.story == ["connected", "head 200 length(2)", "body ok"])
    exchange.markHeldBack()
    #expect(exchange.lacksHeldBack)
    #expect(Array("world".utf8).withUnsafeBytes { exchange.sendBody($0) })
    #expect(!exchange.lacksHeldBack && !recorder.isOver)
    bench.turn { recorder.isOver }
    #expect(recorder.story.last == "ended")
    gate.open()
    #expect(origin.finish() == [])
    #expect(String(decoding: origin.received[0].suffix(10), as: UTF8.self) == "helloworld")
  }

  @Test("an origin that has answered and takes no more breaks the exchange", arguments: [200, 413])
  func outlivesInVain(_ status: Int) throws {
    let answer = "HTTP/1.1 \(status) So\r\nContent-Length: 2\r\n\r\nok"
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(answer), .wait(gate), .reset])
    let bench = try Bench(origin)
    let file = PatternFile(64 << 20)
    var request = OriginRequest.request(.post, "/", .length(64 << 20))
    request.outlivesAnswer = { $0 == 200 }
    let recorder = ExchangeRecorder()
    recorder.react = { event, exchange in
      guard event == .connected else { return }
      #expect(!exchange.sendFile(file.descriptor, at: 0, count: 64 << 20, keeping: file))
    }
    let exchange = bench.start(request, recorder)
    bench.turn { exchange.hasWholeAnswer || recorder.isOver }
    gate.open()
    bench.turn { recorder.isOver }
    let end = status == 200 ? "broke connection_terminated" : "ended"
    let story = recorder.story.filter { $0 != "wants body" }
    #expect(story == ["connected", "head \(status) length(2)", "body ok", end])
    #expect(exchange.lacksHeldBack)
    _ = origin.finish()
  }
}
