import COpenSSL
import Testing

@testable import PawlTLS

@Suite("Sessions of origins") struct ClientSessionsTests {
  @Test("sessions are bounded, by place and in all; those of TLS 1.3 are given out once")
  func sessionsAreBounded() throws {
    let sessions = ClientSessions()
    func session(_ version: CInt) throws -> ClientSessions.Session {
      let raw = try #require(SSL_SESSION_new())
      SSL_SESSION_set_protocol_version(raw, version)
      SSL_SESSION_set_time(raw, Int(wallSeconds()))
      SSL_SESSION_set_timeout(raw, 100)
      SSL_SESSION_set1_id(raw, [1, 2, 3], 3)
      return ClientSessions.Session(adopting: raw)
    }
    let now = wallSeconds()
    for _ in 0...ClientSessions.perPlace { sessions.keep(try session(TLS1_3_VERSION), for: "a") }
    #expect(sessions.count == ClientSessions.perPlace)
    #expect(sessions.take(for: "a", now: now + 101) == nil)
    #expect(sessions.count == 0)
    sessions.keep(try session(TLS1_3_VERSION), for: "a")
    #expect(sessions.take(for: "a", now: now) != nil)
    #expect(sessions.take(for: "a", now: now) == nil)
    for _ in 0..<2 { sessions.keep(try session(TLS1_2_VERSION), for: "b") }
    #expect(sessions.count == 1)
    for _ in 0..<2 { #expect(sessions.take(for: "b", now: now) != nil) }
    for number in 0..<ClientSessions.places { sessions.keep(try session(TLS1_2_VERSION), for: "p\(number)") }
    #expect(sessions.count == ClientSessions.places)
    #expect(sessions.take(for: "b", now: now) == nil)
    #expect(sessions.take(for: "p0", now: now) != nil)
  }
}
