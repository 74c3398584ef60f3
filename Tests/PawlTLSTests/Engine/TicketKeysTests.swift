import COpenSSL
import PawlBase
import PawlTestKit
import Testing

@testable import PawlTLS

/// A clock that a test turns.
final class TurnedClock: Sendable {
  private let seconds = Locked<Int64>(1_700_000_000)
  func now() -> Int64 { seconds.withLock { $0 } }
  func advance(_ by: Int64) { seconds.withLock { $0 += by } }
}

@Suite("Resumption by tickets") struct TicketKeysTests {
  /// A second connection of the same client, to another context of the server.
  private func resumes(
    _ first: TLSServerContext, _ second: TLSServerContext, version: CInt, client: TLSClientContext,
    between: () -> Void = {}
  ) throws -> Bool {
    for (context, isFirst) in [(first, true), (second, false)] {
      let engine = client.makeEngine(serverName: "a.example", place: "x")
      pawl_ssl_set_versions(engine.ssl, version)
      let pair = try EnginePair(context.makeEngine(), engine).shake()
      #expect(pair.isDone)
      _ = pair.read(pair.client)
      if !isFirst {
        #expect(pair.server.facts?.isResumed == pair.client.facts?.isResumed)
        return pair.server.facts?.isResumed == true
      }
      between()
    }
    return false
  }

  @Test(
    "a ticket of one context is good at another with the same keys, not at one with others", arguments: [0x303, 0x304])
  func acrossContexts(_ version: CInt) throws {
    let keys = TicketKeys()
    let sections = [Made.section("a", [Made.ecdsa])]
    let (one, two) = (try Made.server(sections, tickets: keys), try Made.server(sections, tickets: keys))
    #expect(try resumes(one, two, version: version, client: Made.client()))
    #expect(try !resumes(one, Made.server(sections), version: version, client: Made.client()))
  }

  @Test("keys seal for 12 hours, open for 24 more", arguments: [0x303, 0x304])
  func rotation(_ version: CInt) throws {
    for (seconds, isGood) in [(43_199, true), (43_201, true), (129_599, true), (129_600, false)] as [(Int64, Bool)] {
      let clock = TurnedClock()
      let keys = TicketKeys { clock.now() }
      let context = try Made.server([Made.section("a", [Made.ecdsa])], tickets: keys)
      let resumed = try resumes(context, context, version: version, client: Made.client()) { clock.advance(seconds) }
      #expect(resumed == isGood, "\(seconds)")
    }
  }

  @Test("a new key comes after 12 hours, or when the clock was set back")
  func newKeys() throws {
    let clock = TurnedClock()
    let keys = TicketKeys { clock.now() }
    let first = try #require(keys.current())
    clock.advance(TicketKeys.rotation - 1)
    #expect(keys.current()?.name == first.name)
    clock.advance(1)
    let second = try #require(keys.current())
    #expect(second.name != first.name && second.cipher != first.cipher && second.mac != first.mac)
    #expect(first.name.withUnsafeBytes { keys.find($0) }?.isCurrent == false)
    #expect(second.name.withUnsafeBytes { keys.find($0) }?.isCurrent == true)
    clock.advance(-86_400 * 365)
    let third = try #require(keys.current())
    #expect(third.name != second.name)
    #expect(first.name.withUnsafeBytes { keys.find($0) } == nil)
  }

  @Test("no ticket carries an identity past a changed client-ca, demand or section", arguments: [0x303, 0x304])
  func boundToDemands(_ version: CInt) throws {
    let keys = TicketKeys()
    let both = Made.certificates.write(Made.root.certificatePEM + Made.otherRoot.certificatePEM, "both.pem")
    let demanding = Made.section("a", [Made.ecdsa], ca: Made.root, clients: .required)
    var (changed, renamed) = (demanding, demanding)
    changed.clientCA = both
    renamed.name = "b"
    let first = try Made.server([demanding], tickets: keys)
    let rows: [(TLSServerSettings, Bool)] = [
      (demanding, true), (changed, false), (renamed, false),
      (Made.section("a", [Made.ecdsa], ca: Made.root, clients: .optional), false),
    ]
    for (settings, isGood) in rows {
      let second = try Made.server([settings], tickets: keys)
      let client = try Made.client(pair: Made.person)
      #expect(try resumes(first, second, version: version, client: client) == isGood, "\(settings)")
    }
  }

  @Test("who resumes is still who it was", arguments: [0x303, 0x304])
  func keepsIdentity(_ version: CInt) throws {
    let context = try Made.server([Made.section("a", [Made.ecdsa], ca: Made.root, clients: .required)])
    let client = try Made.client(pair: Made.person)
    for round in 0..<3 {
      let engine = client.makeEngine(serverName: "a.example", place: "x")
      pawl_ssl_set_versions(engine.ssl, version)
      let pair = try EnginePair(context.makeEngine(), engine).shake()
      _ = pair.read(pair.client)
      #expect(pair.server.facts?.isResumed == (round > 0))
      #expect(pair.server.facts?.peerCertificate?.subject == "CN=alice")
    }
  }
}
