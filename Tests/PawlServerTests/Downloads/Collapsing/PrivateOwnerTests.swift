import PawlHTTP
import PawlTLS
import Testing

@testable import PawlServer

@Suite("Who may have what is kept for one") struct PrivateOwnerTests {
  typealias Line = (FieldName, String)
  typealias Row = (kept: [Line], asker: [Line], access: PrivateOwner.Access)

  private static let basic: Line = (.authorization, "Basic eA")
  /// Two tokens of one subject, as anybody can make them up.
  private static let token: Line = (.authorization, "Bearer e30.eyJzdWIiOiJzIn0.c2ln")
  private static let refreshed: Line = (.authorization, "Bearer e30.eyJzdWIiOiJzIn0.c2lo")

  private func check(_ owner: String?, _ rows: [Row]) throws {
    let bench = try ServerBench { $0.site = "resume-private = 10m" + (owner.map { "\nowner = \($0)" } ?? "") }
    for (index, row) in rows.enumerated() {
      let kept = PrivateOwner(bench.request(.get, "/f", row.kept))
      let asker = PrivateOwner(bench.request(.get, "/f", row.asker))
      #expect(kept.access(for: asker) == row.access, "\(owner ?? "by default"), row \(index)")
      // What is in the catalogue says the same.
      let read = try #require(PrivateOwner(bytes: kept.bytes))
      #expect(read == kept && read.access(for: asker) == row.access)
      for other in [bench.request(.get, "/g", row.asker), bench.request(.get, "/f", row.asker, authority: "other")] {
        #expect(kept.access(for: PrivateOwner(other)) == .none, "another URL")
      }
    }
  }

  @Test("by default the bytes of Authorization, and all cookies beside them; without either the tag alone")
  func byDefault() throws {
    try check(
      nil,
      [
        ([], [], .open), ([], [Self.basic], .ask), ([Self.basic], [], .ask), ([Self.basic], [Self.basic], .open),
        ([Self.basic], [(.authorization, "Basic eB")], .ask), ([Self.basic], [(.authorization, " Basic eA ")], .open),
        ([Self.token], [Self.token], .open), ([Self.token], [Self.refreshed], .ask),
        ([(.authorization, "")], [(.authorization, "")], .ask),
        ([Self.basic, Self.token], [Self.basic, Self.token], .ask),
        ([(.cookie, "a=1")], [(.cookie, "a=1")], .ask), ([(.cookie, "a=1")], [], .ask), ([], [(.cookie, "a=1")], .ask),
        ([Self.basic, (.cookie, "a=1")], [Self.basic, (.cookie, "a=1")], .open),
        ([Self.basic, (.cookie, "a=1")], [Self.basic, (.cookie, "a=2")], .ask),
        ([Self.basic, (.cookie, "a=1")], [Self.basic], .ask), ([Self.basic], [Self.basic, (.cookie, "a=1")], .ask),
        ([(.proxyAuthorization, "Basic eA")], [(.proxyAuthorization, "Basic eA")], .ask),
        ([(.userAgent, "a"), (.xForwardedFor, "1")], [(.userAgent, "b"), (.range, "bytes=1-")], .open),
      ])
  }

  @Test("the cookies that owner names, whatever other cookies say; an empty one names nobody")
  func named() throws {
    let both: [Line] = [Self.basic, (.cookie, "a=1; sid=x")]
    try check(
      "authorization, cookie:sid",
      [
        ([], [], .open), ([], both, .ask), (both, both, .open), (both, [], .ask), (both, [Self.basic], .ask),
        (both, [(.cookie, "sid=x")], .ask), (both, [(.authorization, "Basic eB"), (.cookie, "sid=x")], .ask),
        (both, [Self.basic, (.cookie, "sid=x")], .open),
        (both, [Self.basic, (.cookie, "b=2"), (.cookie, "sid=x")], .open),
        (both, [Self.basic, (.cookie, "a=1; sid=y")], .ask), (both, [Self.basic, (.cookie, "xsid=x")], .ask),
        ([(.cookie, "sid=x")], [(.cookie, "sid=x")], .open), ([(.cookie, "sid=x")], both, .ask),
        ([(.cookie, "sid=")], [(.cookie, "sid=")], .ask), ([(.cookie, "sid=x")], [(.cookie, "sid=x; sid=y")], .ask),
        ([(.cookie, "other=1")], [(.cookie, "other=1")], .ask),
      ])
  }

  @Test("owner = none: whoever has the tag")
  func nobody() throws {
    try check("none", [([], [], .open), ([Self.basic], [(.cookie, "a=1")], .open), ([], [Self.token], .open)])
  }

  @Test("what a verdict says comes with uploads only: nobody is known by it here")
  func verdict() throws {
    let bench = try ServerBench { $0.site = "resume-private = 10m\nauth-request = /may\nowner = auth-request:X-User" }
    let (shown, anonymous) = (bench.request(.get, "/f", [Self.basic]), bench.request(.get, "/f"))
    #expect(PrivateOwner(shown).access(for: PrivateOwner(shown)) == .ask)
    #expect(PrivateOwner(anonymous).access(for: PrivateOwner(anonymous)) == .open)
  }

  @Test(
    "a field that pawl does not know: with the same value the tag is enough; one that is about who asks is a credential"
  )
  func unknown() throws {
    let bench = try ServerBench { $0.site = "resume-private = 10m" }
    func of(_ name: String, _ value: String) -> PrivateOwner {
      var head = bench.request(.get, "/f").head
      head.fields.append(named: Bytes(name), Bytes(value))
      return PrivateOwner(
        IncomingRequest(
          head: head, route: bench.route, loop: bench.services, facts: bench.request().facts, requestID: [],
          isRouted: true, record: TransferRecord(began: bench.loop.now)))
    }
    #expect(of("X-Color", "red").access(for: of("x-color", "red")) == .open)
    #expect(of("X-Color", "red").access(for: of("X-Color", "blue")) == .ask)
    #expect(of("X-Color", "red").access(for: PrivateOwner(bench.request(.get, "/f"))) == .ask)
    #expect(of("traceparent", "1").access(for: of("traceparent", "2")) == .open)
    for name in ["X-Api-Key", "X-User", "Client-Cert"] {
      #expect(of(name, "1").access(for: of(name, "1")) == .ask)
      #expect(!of(name, "1").isRecognisable)
    }
  }

  @Test("the rule stands in it by its name: another list opens nothing that it did not open, whatever the order")
  func reloaded() throws {
    let lines: [Line] = [Self.basic, (.cookie, "sid=x; a=x")]
    func of(_ owner: String) throws -> PrivateOwner {
      let bench = try ServerBench { $0.site = "resume-private = 10m\nowner = \(owner)" }
      return PrivateOwner(bench.request(.get, "/f", lines))
    }
    let kept = try of("cookie:sid, authorization")
    #expect(try kept.access(for: of("authorization, cookie:sid")) == .open)
    for owner in [
      "cookie:a, authorization", "authorization", "cookie:sid", "cookie:sid, cookie:a, authorization", "none",
    ] {
      #expect(try kept.access(for: of(owner)) == .ask, "\(owner)")
    }
    #expect(try of("none").access(for: of("cookie:sid")) == .ask)
  }

  @Test("what was kept before bindings had a version is opened unasked for nobody")
  func former() throws {
    let bench = try ServerBench { $0.site = "resume-private = 10m" }
    let anonymous = bench.request(.get, "/f")
    let place = SHA256.digest(Array("site".utf8) + [0] + Array("/f".utf8))
    for rules in 0..<40 {
      let bytes = place + [UInt8](repeating: 0, count: 33 * rules)
      let read = try #require(PrivateOwner(bytes: bytes), "\(rules) rules")
      #expect(read.access(for: PrivateOwner(anonymous)) == .ask)
      #expect(read.access(for: PrivateOwner(bench.request(.get, "/f", [Self.basic]))) == .ask)
      #expect(read.access(for: PrivateOwner(bench.request(.get, "/g"))) == .none)
    }
  }

  @Test("one that was damaged on disk opens nothing")
  func damaged() throws {
    let bench = try ServerBench { $0.site = "resume-private = 10m" }
    let request = PrivateOwner(bench.request(.get, "/f", [Self.basic, (.cookie, "a=1")]))
    let bytes = request.bytes
    #expect(bytes.count == 2 + 32 + 3 * 33)
    for length in 0..<bytes.count {
      let read = PrivateOwner(bytes: Array(bytes.prefix(length)))
      // Without its last entry, which only matters to who shows nothing, it is the same one's.
      #expect(read?.access(for: request) != .open || length == bytes.count - 33, "\(length) bytes")
    }
    for index in bytes.indices {
      for bit in [1, 4, 128] as [UInt8] {
        var other = bytes
        other[index] ^= bit
        // The flags, and fields that only matter to who shows nothing, may say what they like.
        let isOfNoUse = index == 1 || index >= bytes.count - 32
        let access = PrivateOwner(bytes: other)?.access(for: request)
        #expect(access != .open || isOfNoUse, "byte \(index), bit \(bit)")
      }
    }
  }
}
