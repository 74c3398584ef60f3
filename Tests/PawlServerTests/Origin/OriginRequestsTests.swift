import PawlHTTP
import Testing

@testable import PawlServer

@Suite("What an origin is sent") struct OriginRequestsTests {
  @Test("a request as it came, without what was for pawl alone, with what pawl knows")
  func forwarded() throws {
    let bench = try ServerBench()
    let request = bench.request(
      .post, "/f?q",
      [
        (.connection, "close, X-Hop"), (.other, "X"), (.te, "trailers"), (.contentLength, "3"), (.host, "site"),
        (.xForwardedFor, "198.51.100.1"), (.userAgent, "u"), (.via, "1.0 other"),
      ], framing: .length(3), version: .http10)
    let head = OriginRequests.forwarded(request)
    #expect(head.method == .post && head.target == Bytes("/f?q") && head.version == .http11)
    #expect(head.framing == .length(3))
    #expect(
      head.fields.description.replacing("\r\n", with: "\n") == """
        : X
        User-Agent: u
        Via: 1.0 other
        Host: site
        X-Forwarded-For: 192.0.2.9
        X-Forwarded-Proto: http
        X-Forwarded-Host: site
        X-Forwarded-Port: 8080
        X-Real-IP: 192.0.2.9
        Via: 1.0 pawl
        X-Request-Id: made-up

        """)
  }

  @Test(
    "trailers are asked of the origin where the client asked for them, and TE is named as of this hop (RFC 9110 10.1.4)"
  )
  func trailers() throws {
    let bench = try ServerBench()
    func sent(_ fields: [(FieldName, String)], _ version: HTTPVersion = .http11) -> [String] {
      let all = OriginRequests.forwarded(bench.request(.get, "/f", fields, version: version)).fields
      return (all.all(.connection) + all.all(.te)).map(\.text)
    }
    #expect(sent([(.connection, "TE"), (.te, "gzip, Trailers;q=0.5")]) == ["te", "trailers"])
    #expect(sent([(.te, "trailers")], .http2) == ["te", "trailers"])
    #expect(sent([(.connection, "TE"), (.te, "gzip")]) == [] && sent([]) == [])
    #expect(sent([(.connection, "TE"), (.te, "trailers")], .http10) == [])
  }

  @Test("requests of one connection for several hosts, of several versions, are each introduced as themselves")
  func severalHosts() throws {
    let bench = try ServerBench()
    let first = bench.request()
    for (authority, version) in [
      ("site", "1.1"), ("other:8443", "1.1"), ("other:8443", "1.0"), ("site", "1.1"), ("", "1.1"),
    ] {
      var head = first.head
      (head.authority, head.version) = (Bytes(authority), version == "1.0" ? .http10 : .http11)
      let request = IncomingRequest(
        head: head, route: first.route, loop: first.loop, facts: first.facts, requestID: first.requestID,
        isRouted: true,
        record: first.record)
      let fields = OriginRequests.forwarded(request).fields
      #expect(fields.all(.xForwardedHost).map(\.text) == (authority.isEmpty ? [] : [authority]))
      #expect(fields.only(.host)?.text == (authority.isEmpty ? first.route.fallbackHost[...].text : authority))
      #expect(fields.all(.via).map(\.text) == ["\(version) pawl"] && fields.only(.xRealIP)?.text == "192.0.2.9")
    }
  }

  @Test("a trusted peer's chain is kept, and the request id that came")
  func trusted() throws {
    let bench = try ServerBench()
    let request = bench.request(
      .get, "/f", [(.xForwardedFor, "198.51.100.1"), (.xRequestID, "theirs")], isTrusted: true)
    let fields = OriginRequests.forwarded(request).fields
    #expect(fields.all(.xForwardedFor).map(\.text) == ["198.51.100.1, 192.0.2.9"])
    #expect(fields.all(.xRequestID).map(\.text) == ["theirs"])
  }

  @Test("an upgrade goes on only where it is meant to")
  func upgrade() throws {
    let request = try ServerBench().request(.get, "/f", [(.connection, "Upgrade"), (.upgrade, "websocket")])
    let kept = OriginRequests.forwarded(request, keepingUpgrade: true).fields
    #expect(kept.first(.upgrade)?.text == "websocket" && kept.first(.connection)?.text == "upgrade")
    let dropped = OriginRequests.forwarded(request).fields
    #expect(!dropped.contains(.upgrade) && !dropped.contains(.connection))
  }

  @Test("HTTP/1.0 without Host is sent the upstream's own name")
  func fallbackHost() throws {
    let request = try ServerBench().request(authority: "")
    #expect(OriginRequests.forwarded(request).fields.first(.host)?.text == "127.0.0.1:1")
    #expect(!OriginRequests.forwarded(request).fields.contains(.xForwardedHost))
  }

  @Test("tags that pawl minted never reach an origin; its own do")
  func tags() throws {
    let bench = try ServerBench()
    let minted = String(decoding: EntityTag(strong: AnswerTags.mint()).bytes, as: UTF8.self)
    func sent(_ fields: [(FieldName, String)]) -> String {
      let all = OriginRequests.forwarded(bench.request(.get, "/f", fields)).fields
      return [FieldName.range, .ifRange, .ifNoneMatch].map { all.first($0)?.text ?? "-" }.joined(separator: " ")
    }
    #expect(sent([(.range, "bytes=5-"), (.ifRange, minted)]) == "- - -")
    #expect(sent([(.range, "bytes=5-"), (.ifRange, "\"v\"")]) == "bytes=5- \"v\" -")
    #expect(sent([(.range, "bytes=5-")]) == "bytes=5- - -")
    #expect(sent([(.ifNoneMatch, minted)]) == "- - -")
    #expect(sent([(.ifNoneMatch, "\"v\"")]) == "- - \"v\"")
  }

  @Test("a fetch for the store has no conditions, no range and no content, and asks for identity")
  func fetch() throws {
    let request = try ServerBench().request(
      .head, "/f",
      [
        (.range, "bytes=5-"), (.ifRange, "\"v\""), (.ifMatch, "\"v\""), (.ifNoneMatch, "\"v\""),
        (.ifModifiedSince, "x"), (.ifUnmodifiedSince, "x"), (.expect, "100-continue"), (.acceptEncoding, "gzip"),
      ])
    let head = OriginRequests.fetch(request)
    #expect(head.method == .get && head.framing == .none)
    #expect(!OriginRequests.conditions.contains(where: head.fields.contains) && !head.fields.contains(.expect))
    #expect(head.fields.all(.acceptEncoding).map(\.text) == ["identity"])
  }

  @Test("Accept-Encoding passes where the route says so, except where bytes are counted")
  func encoding() throws {
    let bench = try ServerBench { $0.site = "origin-encoding = pass" }
    let plain = bench.request(.get, "/f", [(.acceptEncoding, "gzip")])
    #expect(OriginRequests.fetch(plain).fields.first(.acceptEncoding)?.text == "gzip")
    let range = bench.request(.get, "/f", [(.acceptEncoding, "gzip"), (.range, "bytes=0-1")])
    #expect(OriginRequests.fetch(range).fields.first(.acceptEncoding)?.text == "identity")
  }

  @Test("a request that names pawl three times goes in a circle", arguments: [(2, false), (3, true)])
  func loops(_ times: Int, _ isLoop: Bool) throws {
    let request = try ServerBench().request(
      .get, "/f", Array(repeating: (.via, "1.1 pawl"), count: times))
    #expect(OriginRequests.isLoop(request.head.fields) == isLoop)
  }

  @Test("an answer goes on without what was between pawl and the origin")
  func relayed() {
    let head = ResponseHead(
      status: 200,
      fields: Fields([
        (.connection, "X-A"), (.contentLength, "5"), (.altSvc, "h3"), (.transferEncoding, "chunked"), (.etag, "\"v\""),
      ]))
    #expect(OriginRequests.relayed(head).fields.description == "ETag: \"v\"\r\n")
  }
}
