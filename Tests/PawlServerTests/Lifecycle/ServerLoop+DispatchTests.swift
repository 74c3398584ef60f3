import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Which exchange answers a request") struct ServerLoopDispatchTests {
  /// Where an answer of an exchange goes that nobody starts.
  private final class NoChannel: ResponseChannel {
    var hasResponded: Bool { false }
    var hasClientEnded: Bool { false }
    func interim(_ head: ResponseHead) {}
    func respond(_ head: ResponseHead, length: ContentLength, body: (any BodySource)?) {}
    func resumeRequestBody() {}
    func drainRequestBody() {}
    func abandon(_ end: BodyEnd) {}
    func upgrade(_ head: ResponseHead, to stream: SocketStream, leftover: [UInt8], holding: AnyObject) {}
  }

  @Test("chooses the kind of exchange by what is asked")
  func kinds() throws {
    let bench = try ServerBench { $0.more = "[route:default/off]\npath = /off\ncache = off" }
    func kind(_ request: IncomingRequest) -> String {
      "\(type(of: bench.serverLoop.makeExchange(for: request, channel: NoChannel())))"
    }
    let upgrade: [(FieldName, String)] = [(.connection, "upgrade"), (.upgrade, "websocket")]
    #expect(kind(bench.request()) == "DownloadExchange")
    #expect(kind(bench.request(.head)) == "DownloadExchange")
    #expect(kind(bench.request(.post)) == "ForwardExchange")
    #expect(kind(bench.request(.get, "/f", upgrade)) == "ForwardExchange")
    #expect(kind(bench.request(.get, "/f", [(.upgrade, "websocket")])) == "DownloadExchange")
    #expect(kind(bench.request(framing: .length(1))) == "ForwardExchange")
    #expect(kind(bench.request(.options, "*")) == "ReplyExchange")
    #expect(kind(bench.request(.options, "/f")) == "OptionsExchange")
    #expect(kind(bench.request(.get, "/off")) == "UncachedExchange")
    #expect(kind(bench.request(.head, "/off")) == "ForwardExchange")
  }

  @Test("what is about an upload goes to the spool, what is too small for that to the origin")
  func uploads() throws {
    let bench = try ServerBench {
      $0.more = "[route:default/off]\npath = /off\nuploads = off\n[route:default/s]\npath = /s\nplain-uploads = spool"
    }
    func kind(_ request: IncomingRequest) -> String {
      "\(type(of: bench.serverLoop.makeExchange(for: request, channel: NoChannel())))"
    }
    let draft: [(FieldName, String)] = [(.uploadDraftInteropVersion, "6"), (.uploadComplete, "?1")]
    let tus: [(FieldName, String)] = [(.tusResumable, "1.0.0"), (.uploadLength, "9")]
    #expect(kind(bench.request(.post, "/f", draft, framing: .chunked)) == "UploadExchange")
    #expect(kind(bench.request(.post, "/f", tus)) == "UploadExchange")
    #expect(kind(bench.request(.post, "/off", draft, framing: .chunked)) == "ForwardExchange")
    #expect(kind(bench.request(.get, "/.pawl/uploads/x")) == "UploadExchange")
    #expect(kind(bench.request(.post, "/s", framing: .chunked)) == "SpooledForwardExchange")
    let small = bench.request(.post, "/f", draft, framing: .length(9))
    #expect(kind(small) == "ForwardExchange")
    #expect(OriginRequests.forwarded(small).fields.contains(.uploadComplete) == false)
    #expect(OriginRequests.forwarded(bench.request(.post, "/off", draft)).fields.contains(.uploadComplete))
  }

  @Test("a host that no site answers for is told so")
  func noSite() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1") { $0.site = "host = a.example" }
    let answer = pawl.ask("GET /f HTTP/1.1\r\nHost: b.example\r\nX-Request-Id: r\r\n\r\n")
    #expect(answer.status == 404 && answer.text.hasSuffix("No site here answers for the host b.example.\n"))
  }
}
