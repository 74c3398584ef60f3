import PawlTestKit

@testable import PawlServer

/// A pawl that speaks TLS: section `a` for a.example and *.wild.example, section `b` for b.example, both from one authority.
struct SecureServer {
  let certificates = TestCertificates()
  let authority: TestCertificate
  let a: TestCertificate
  let b: TestCertificate
  let client: TestCertificate
  let origin: ScriptedOrigin
  let pawl: TestServer

  static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  /// - Parameter b: lines of its section.
  init(
    b lines: String = "", answer: String = Self.answer, connections: Int = 4,
    _ change: (inout TestServer.Changes) -> Void = { _ in }
  ) throws {
    let authority = certificates.make(names: ["authority"], isCA: true)
    self.authority = authority
    a = certificates.make(names: ["a.example", "*.wild.example"], issuer: authority)
    b = certificates.make(names: ["b.example"], issuer: authority)
    client = certificates.make(names: ["client"], issuer: authority)
    origin = ScriptedOrigin(scripts: [[OriginStep]](repeating: [.answerAll(answer)], count: connections))
    let sections = Self.sections(a, b, lines.replacing("AUTHORITY", with: authority.certificate))
    pawl = try TestServer(origin) { changes in
      changes.listen = "tls = a b\nkeepalive-timeout = 1h"
      changes.site = "cache = off"
      changes.more = sections
      change(&changes)
    }
  }

  static func sections(_ a: TestCertificate, _ b: TestCertificate, _ lines: String = "") -> String {
    """
    [tls:a]
    certificate = \(a.certificate)
    key = \(a.key)
    [tls:b]
    certificate = \(b.certificate)
    key = \(b.key)
    \(lines)
    """
  }

  /// A connection whose handshake is done.
  func connect(_ offer: TLSOffer = TLSOffer("a.example")) -> (client: ScriptedClient, failure: String?) {
    let client = pawl.connect()
    return (client, client.secure(offer))
  }

  /// One request on a connection of its own; `nil` when there was none.
  func ask(_ offer: TLSOffer = TLSOffer("a.example"), host: String = "a.example", _ fields: String...) -> Answer? {
    let (client, failure) = connect(offer)
    guard failure == nil else { return nil }
    client.send(Self.request(host, fields))
    return client.readAnswer()
  }

  static func request(_ host: String = "a.example", _ fields: [String] = []) -> String {
    "GET /f HTTP/1.1\r\nHost: \(host)\r\nX-Request-Id: r\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
  }

  /// Values of a field that the origin was sent, one for each request.
  func told(_ name: String) -> [String] {
    String(decoding: origin.received.joined(), as: UTF8.self).split(separator: "\r\n")
      .filter { $0.lowercased().hasPrefix(name.lowercased() + ": ") }.map { String($0.dropFirst(name.count + 2)) }
  }
}
