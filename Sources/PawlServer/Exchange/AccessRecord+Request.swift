import PawlHTTP
import PawlLoop
import PawlObserve
import PawlTLS

extension AccessRecord {
  /// Makes the log line of a request that was answered or abandoned.
  init(_ request: IncomingRequest, version: HTTPVersion, now: Monotonic, wall: Int64) {
    self.init(time: wall, remote: request.facts.text[...])
    let record = request.record
    method = request.head.method.bytes[...]
    target = request.shown(request.head.target)
    self.version = version.text
    status = record.status
    bytes = record.bytesSent
    referer = request.head.fields.first(.referer).map(request.shown)
    userAgent = request.head.fields.first(.userAgent).map(request.shown)
    durationMicros = now.microseconds(since: record.began)
    requestID = request.requestID[...]
    host = request.head.authority
    site = request.route.name
    upstream = record.upstream
    cacheOutcome = record.cacheOutcome.word
    bytesFromCache = record.bytesFromCache
    bytesFromOrigin = record.bytesFromOrigin + request.tally.received
    bytesResumed = request.tally.resumed
    bytesReplayed = request.tally.replayed
    originResumes = request.tally.resumes
    note(request.facts.tls)
    user = request.head.fields.first(.authorization).flatMap(BasicUser.name).map(request.shown)
    if let end = record.end { self.end(end) }
    extras = request.accessExtras()
  }

  /// Fills in a hit on the hot path, which has no ``IncomingRequest``. Changes the record in place, since a copy costs more than
  /// this function does.
  /// - Parameter bytes: the bytes of the body that were sent.
  mutating func note(
    _ request: HotRequest, status: Int, bytes: UInt64, _ route: RouteSettings, _ tls: TLSFacts?
  ) {
    (method, target, host) = (Self.get[...], request.target, request.authority)
    self.status = status
    (self.bytes, bytesFromCache) = (bytes, bytes)
    note(tls)
    (site, upstream, cacheOutcome) = (route.name, route.upstreamName, "hit")
  }

  private static let get = Method.get.bytes

  /// Fills in why the answer ended early.
  mutating func end(_ end: BodyEnd) {
    endedBy =
      switch end.party {
      case .client: .client
      case .origin: .origin
      case .pawl: .pawl
      }
    endReason = end.reason
  }

  /// Fills in the TLS version, cipher and client certificate; nothing without TLS.
  mutating func note(_ tls: TLSFacts?) {
    guard let tls else { return }
    tlsVersion =
      switch tls.version {
      case .v12: "TLSv1.2"
      case .v13: "TLSv1.3"
      }
    tlsCipher = tls.cipher
    clientSubject = tls.peerCertificate?.subject
  }

  /// Makes the log line of input that could not be parsed as a request.
  init(refused status: Int, bytes: Int, _ remote: Bytes, wall: Int64) {
    self.init(time: wall, remote: remote)
    self.status = status
    self.bytes = UInt64(bytes)
    endedBy = .client
    endReason = "refused"
  }
}

extension IncomingRequest {
  /// Returns a target or another text of the client as it may be logged: without the secret token of an upload.
  func shown(_ text: Bytes) -> Bytes { loop.shown(text) }

  /// The request's identifier, for events.
  var idText: String { String(decoding: requestID, as: UTF8.self) }
}
