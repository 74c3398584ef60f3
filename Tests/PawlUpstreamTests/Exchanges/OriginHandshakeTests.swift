import PawlHTTP
import PawlLoop
import PawlTLS
import PawlTestKit
import Testing

@testable import PawlUpstream

/// Authorities, and certificates of theirs.
struct OriginCertificates {
  let maker = TestCertificates()
  let authority: TestCertificate
  let good: TestCertificate
  let expired: TestCertificate
  let future: TestCertificate
  let address: TestCertificate
  let selfSigned: TestCertificate
  let stranger: TestCertificate
  let client: TestCertificate

  init() {
    authority = maker.make(names: ["Test Authority"], isCA: true)
    let other = maker.make(names: ["Other Authority"], isCA: true)
    good = maker.make(names: ["origin.example", "*.wild.example"], issuer: authority)
    expired = maker.make(names: ["origin.example"], issuer: authority, notBefore: -7200, notAfter: -3600)
    future = maker.make(names: ["origin.example"], issuer: authority, notBefore: 3600)
    address = maker.make(names: ["127.0.0.1"], issuer: authority)
    selfSigned = maker.make(names: ["origin.example"])
    stranger = maker.make(names: ["origin.example"], issuer: other)
    client = maker.make(names: ["pawl"], issuer: authority)
  }

  /// Trusts the authority, unless told otherwise.
  func context(ca: TestCertificate? = nil, verifies: Bool = true, pair: TestCertificate? = nil) throws
    -> TLSClientContext
  {
    try TLSClientContext(
      TLSClientSettings(
        verifies: verifies, ca: (ca ?? authority).certificate,
        pair: pair.map { TLSKeyPair(certificate: $0.certificate, key: $0.key) }))
  }
}

extension UpstreamURL {
  init(_ origin: ScriptedOrigin, serverName: String) {
    self.init(host: origin.host, port: origin.port, serverName: serverName)
  }
}

@Suite("TLS to an origin") struct OriginHandshakeTests {
  static let okayStory = ["connected", "head 200 length(2)", "body ok", "ended"]
  static let answer: [OriginStep] = [.expect(getHead()), .send(okay)]
  private let certificates = OriginCertificates()

  private func tls(_ certificate: TestCertificate, clientCA: TestCertificate? = nil, onlyTLS12: Bool = false)
    -> ScriptedTLS
  {
    ScriptedTLS(
      certificate: certificate.certificate, key: certificate.key, clientCA: clientCA?.certificate, onlyTLS12: onlyTLS12)
  }

  typealias Choice = @Sendable (OriginCertificates) -> TestCertificate

  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var certificate: Choice
    var serverName = "origin.example"
    var ca: Choice?
    var verifies = true
    /// `nil`: it is accepted.
    var complaint: String?
  }

  static let cases: [Case] = [
    Case(testDescription: "good", certificate: { $0.good }),
    Case(testDescription: "wildcard", certificate: { $0.good }, serverName: "a.wild.example"),
    Case(
      testDescription: "wildcard is for one label", certificate: { $0.good }, serverName: "b.a.wild.example",
      complaint: "name"),
    Case(testDescription: "wrong name", certificate: { $0.good }, serverName: "other.example", complaint: "name"),
    Case(testDescription: "expired", certificate: { $0.expired }, complaint: "expired"),
    Case(testDescription: "not yet valid", certificate: { $0.future }, complaint: "not yet valid"),
    Case(testDescription: "unknown authority", certificate: { $0.stranger }, complaint: "issuer"),
    Case(testDescription: "self-signed", certificate: { $0.selfSigned }, complaint: "self-signed"),
    Case(testDescription: "self-signed, and trusted", certificate: { $0.selfSigned }, ca: { $0.selfSigned }),
    Case(testDescription: "address", certificate: { $0.address }, serverName: "127.0.0.1"),
    Case(testDescription: "wrong address", certificate: { $0.good }, serverName: "127.0.0.1", complaint: "address"),
    Case(
      testDescription: "anything, unverified", certificate: { $0.expired }, serverName: "x.example", verifies: false),
  ]

  @Test("the certificate has to be trusted, in time and for the name", arguments: cases)
  func verification(_ row: Case) throws {
    let isGood = row.complaint == nil
    let origin = ScriptedOrigin(.tcp, tls: tls(row.certificate(certificates)), isGood ? Self.answer : [])
    let context = try certificates.context(
      ca: row.ca.map { $0(certificates) }, verifies: row.verifies)
    let reports = TestLock<[ProxyError]>([])
    let bench = try Bench(
      tls: context, reports: reports,
      settings: { $0.urls = [UpstreamURL(origin, serverName: row.serverName)] })
    let recorder = bench.run(.get())
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
    guard let complaint = row.complaint else {
      #expect(recorder.story == Self.okayStory)
      let name = row.serverName == "127.0.0.1" ? nil : row.serverName
      #expect(origin.handshakes == [.init(isDone: true, serverName: name)])
      return
    }
    #expect(recorder.story == ["broke tls_certificate_error before the head, nothing sent"])
    let details = recorder.details ?? ""
    #expect(details.hasPrefix("127.0.0.1:\(origin.port): "))
    #expect(details.contains(complaint) || details.contains("certificate is for"), "\(details)")
    #expect(reports.withLock { $0.map(\.kind) } == [.tlsCertificateError])
    #expect(bench.upstream.connectionCount == 0)
  }

  @Test("the next URL is tried when a certificate is wrong, and the URL counts as failed")
  func failover() throws {
    let bad = ScriptedOrigin(.tcp, tls: tls(certificates.expired), [])
    let origin = ScriptedOrigin(.tcp, tls: tls(certificates.good), Self.answer + [.readToEnd])
    let bench = try Bench(
      tls: certificates.context(),
      settings: { settings in
        settings.urls = [bad, origin].map { UpstreamURL($0, serverName: "origin.example") }
      })
    #expect(bench.run(.get()).story == Self.okayStory)
    #expect(bench.upstream.choose(at: bench.loop.now, for: [], preferring: nil).first == 1)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
    _ = bad.finish()
  }

  @Test("a certificate is shown to an origin that asks for one", arguments: [false, true])
  func clientCertificate(_ onlyTLS12: Bool) throws {
    let origin = ScriptedOrigin(
      .tcp, tls: tls(certificates.good, clientCA: certificates.authority, onlyTLS12: onlyTLS12), Self.answer)
    let bench = try Bench(
      tls: certificates.context(pair: certificates.client),
      settings: { $0.urls = [UpstreamURL(origin, serverName: "origin.example")] })
    #expect(bench.run(.get()).story == Self.okayStory)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
    #expect(origin.handshakes.map(\.hasClientCertificate) == [true])
    #expect(origin.handshakes.map(\.isTLS12) == [onlyTLS12])
  }

  @Test("an origin that refuses pawl by an alert is said to do so (TLS 1.2)")
  func alert() throws {
    let origin = ScriptedOrigin(
      .tcp, tls: tls(certificates.good, clientCA: certificates.authority, onlyTLS12: true), [])
    let bench = try Bench(
      tls: certificates.context(), settings: { $0.urls = [UpstreamURL(origin, serverName: "origin.example")] })
    let recorder = bench.run(.get())
    #expect(recorder.story == ["broke tls_alert_received before the head, nothing sent"])
    #expect(recorder.error?.alert == 40)
    _ = origin.finish()
  }

  @Test("an origin that refuses pawl after the handshake, as TLS 1.3 has it, is said to do so, and logged")
  func lateAlert() throws {
    let origin = ScriptedOrigin(.tcp, tls: tls(certificates.good, clientCA: certificates.authority), [])
    let reports = TestLock<[ProxyError]>([])
    let bench = try Bench(
      tls: certificates.context(), reports: reports,
      settings: { $0.urls = [UpstreamURL(origin, serverName: "origin.example")] })
    let recorder = bench.run(.get())
    #expect(recorder.story.first == "connected")
    #expect(recorder.story.last?.hasPrefix("broke tls_alert_received before the head") == true)
    #expect(recorder.error?.alert == 116)
    #expect(recorder.details?.hasPrefix("127.0.0.1:\(origin.port): ") == true)
    #expect(reports.withLock { $0.map(\.kind) } == [.tlsAlertReceived])
    _ = origin.finish()
  }

  @Test("an origin that speaks no TLS is said to do so")
  func noTLS() throws {
    let origin = ScriptedOrigin(.tcp, [.read(1), .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .readToEnd])
    let bench = try Bench(
      tls: certificates.context(), settings: { $0.urls = [UpstreamURL(origin, serverName: "origin.example")] })
    #expect(bench.run(.get()).story == ["broke tls_protocol_error before the head, nothing sent"])
    #expect(origin.finish() == [])
  }

  @Test("a handshake that stalls ends with the connect timeout")
  func stall() throws {
    let clock = ManualClock()
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.read(1), .open(gate), .readToEnd])
    let bench = try Bench(
      clock: clock, tls: certificates.context(),
      settings: { $0.urls = [UpstreamURL(origin, serverName: "origin.example")] })
    let recorder = ExchangeRecorder()
    bench.start(.get(), recorder)
    bench.turn(untilOpen: gate)
    clock.advance(by: .seconds(6))
    bench.turn { recorder.isOver }
    #expect(recorder.story == ["broke connection_timeout before the head, nothing sent"])
    #expect(recorder.details == "127.0.0.1:\(origin.port): TLS handshake not within the connect timeout")
    #expect(origin.finish() == [])
  }

  @Test("a request that is cancelled during the handshake gives its place back")
  func cancel() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.read(1), .open(gate), .readToEnd])
    let bench = try Bench(
      tls: certificates.context(), settings: { $0.urls = [UpstreamURL(origin, serverName: "origin.example")] })
    let recorder = ExchangeRecorder()
    let exchange = bench.start(.get(), recorder)
    bench.turn(untilOpen: gate)
    exchange.cancel()
    #expect(bench.upstream.connectionCount == 0)
    for _ in 0..<5 { bench.turnOnce() }
    #expect(recorder.story == [])
    #expect(origin.finish() == [])
  }

  @Test("a second connection resumes the session of the first", arguments: [false, true])
  func resumption(_ onlyTLS12: Bool) throws {
    let closing = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    let script: [OriginStep] = [.expect(getHead()), .send(closing)]
    let origin = ScriptedOrigin(.tcp, tls: tls(certificates.good, onlyTLS12: onlyTLS12), script, script)
    let bench = try Bench(
      tls: certificates.context(), settings: { $0.urls = [UpstreamURL(origin, serverName: "origin.example")] })
    for _ in 0..<2 { #expect(bench.run(.get()).story == Self.okayStory) }
    #expect(origin.finish() == [])
    #expect(origin.handshakes.map(\.isResumed) == [false, true])
  }

  @Test("an idle connection is used again, session tickets on it notwithstanding", arguments: [false, true])
  func reuse(_ onlyTLS12: Bool) throws {
    let origin = ScriptedOrigin(
      .tcp, tls: tls(certificates.good, onlyTLS12: onlyTLS12), Self.answer + Self.answer + [.readToEnd])
    let bench = try Bench(
      tls: certificates.context(), settings: { $0.urls = [UpstreamURL(origin, serverName: "origin.example")] })
    for _ in 0..<2 {
      #expect(bench.run(.get()).story == Self.okayStory)
      for _ in 0..<3 { bench.turnOnce() }
    }
    #expect(bench.pool.idleCount == 1)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
    #expect(origin.acceptedCount == 1)
  }

  @Test("an idle connection that the origin ends is let go of")
  func idleEnd() throws {
    let origin = ScriptedOrigin(.tcp, tls: tls(certificates.good), Self.answer)
    let bench = try Bench(
      tls: certificates.context(), settings: { $0.urls = [UpstreamURL(origin, serverName: "origin.example")] })
    #expect(bench.run(.get()).story == Self.okayStory)
    bench.turn { bench.pool.idleCount == 0 }
    #expect(origin.finish() == [])
  }

  @Test("new connections use certificates that replaced others")
  func replaced() throws {
    let closing = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    let script: [OriginStep] = [.expect(getHead()), .send(closing)]
    let origin = ScriptedOrigin(.tcp, tls: tls(certificates.stranger), [], script)
    let bench = try Bench(
      tls: certificates.context(), settings: { $0.urls = [UpstreamURL(origin, serverName: "origin.example")] })
    #expect(bench.run(.get()).story == ["broke tls_certificate_error before the head, nothing sent"])
    bench.upstream.replaceTLS(try certificates.context(ca: certificates.stranger))
    #expect(bench.run(.get()).story == Self.okayStory)
    #expect(origin.finish() == [])
  }
}

@Suite("Content over TLS") struct OriginTLSContentTests {
  private let certificates = OriginCertificates()

  private func bench(_ script: [OriginStep]...) throws -> (Bench, ScriptedOrigin) {
    let tls = ScriptedTLS(certificate: certificates.good.certificate, key: certificates.good.key)
    let origin = ScriptedOrigin(.tcp, tls: tls, scripts: script)
    let bench = try Bench(
      tls: certificates.context(), settings: { $0.urls = [UpstreamURL(origin, serverName: "origin.example")] })
    return (bench, origin)
  }

  @Test(
    "a body until the end of the connection is complete with close_notify, and cut without", arguments: [true, false])
  func truncation(_ isNotified: Bool) throws {
    var script: [OriginStep] = [.expect(getHead()), .send("HTTP/1.1 200 OK\r\n\r\nhalf of it")]
    if !isNotified { script.append(.withoutNotice) }
    let (bench, origin) = try bench(script)
    let story = bench.run(.get()).story
    #expect(story.dropLast() == ["connected", "head 200 untilClose", "body half of it"])
    #expect(story.last == (isNotified ? "ended" : "broke connection_terminated"))
    #expect(origin.finish() == [])
  }

  @Test("a break within a body of known length is one")
  func broken() throws {
    let (bench, origin) = try bench([
      .expect(getHead()), .send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf"),
    ])
    #expect(
      bench.run(.get()).story == [
        "connected", "head 200 length(99)", "body half", "broke http_response_incomplete",
      ])
    #expect(origin.finish() == [])
  }

  @Test("a large body arrives as it was sent, pauses included")
  func large() throws {
    let count = 5 << 20
    let (bench, origin) = try bench([
      .expect(getHead()), .send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"), .sendPattern(count: count),
      .readToEnd,
    ])
    var seen: UInt64 = 0
    var areSame = true
    let recorder = ExchangeRecorder()
    recorder.keepsBody = false
    recorder.observe = { bytes in
      areSame = areSame && bytes.elementsEqual(OriginStep.pattern(from: seen, count: bytes.count))
      seen += UInt64(bytes.count)
    }
    var pauses = 0
    recorder.react = { event, exchange in
      guard case .body = event, pauses < 40 else { return }
      pauses += 1
      exchange.pause()
      exchange.loop.nextTurn { exchange.resume() }
    }
    bench.start(.get(), recorder)
    bench.turn { recorder.isOver }
    #expect(areSame)
    #expect(seen == UInt64(count))
    #expect(recorder.story.last == "ended")
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("an upload from a file arrives byte for byte; whenFlushed waits for what is encrypted and not yet sent")
  func upload() throws {
    let count = 8 << 20
    let (gate, mayAnswer) = (Gate(), Gate())
    let (bench, origin) = try bench([
      .expectHead, .wait(gate), .read(count - 1), .wait(mayAnswer), .read(1), .send(okay), .readToEnd,
    ])
    let file = PatternFile(count)
    let recorder = ExchangeRecorder()
    var kept = -1
    recorder.react = { event, exchange in
      guard event == .connected else { return }
      _ = exchange.sendFile(file.descriptor, at: 0, count: UInt64(count - 1), keeping: file)
      exchange.whenFlushed { kept = exchange.stream?.bytesKept ?? -2 }
    }
    let exchange = bench.start(.request(.post, "/", .length(UInt64(count))), recorder)
    bench.turn { recorder.story.contains("connected") }
    for _ in 0..<20 { bench.turnOnce() }
    #expect(kept == -1)
    gate.open()
    bench.turn { kept != -1 }
    #expect(kept == 0)
    #expect(!recorder.isOver)
    mayAnswer.open()
    _ = exchange.sendFile(file.descriptor, at: UInt64(count - 1), count: 1, keeping: file)
    bench.turn { recorder.isOver }
    #expect(recorder.story.last == "ended")
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
    let bytes = origin.received.first ?? []
    let end = bytes[...].firstRange(of: Array("\r\n\r\n".utf8)[...])?.upperBound ?? 0
    #expect(bytes[end...].elementsEqual(OriginStep.pattern(from: 0, count: count)))
  }
}
