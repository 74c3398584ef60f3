import PawlCertificates
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlTLS
import PawlWire

/// A client's connection before HTTP: reads the PROXY protocol's header where the listener has `proxy-protocol`, then performs
/// the TLS handshake, which chooses HTTP/1.1 or HTTP/2. All of this has to end within `header-timeout`. Lives on one loop.
final class Opening: StreamDelegate, ServedConnection, DeadlineHolder {
  enum Phase {
    /// The PROXY protocol's header is being read. The value holds the bytes of the header that were already taken from the
    /// socket.
    case header([UInt8])
    /// The first byte on a TLS port is awaited, since it shows whether the client speaks TLS.
    case greeting
    /// The TLS handshake runs, with one of these certificates.
    case handshake(TLSServerContext)
    /// The handshake has failed, and an alert or a response is sent. What still comes is read and dropped, so that no RST
    /// overtakes the alert or the response.
    case lingering
    case closed
  }

  /// The limits of ``Phase/lingering``: time, and bytes.
  static let lingerTime = Duration.seconds(2)
  static let lingerBudget = 64 << 10

  private unowned let connections: LoopConnections
  private let listener: ListenerOnLoop
  let stream: SocketStream
  private let peer: SocketAddress
  private var phase: Phase
  var place = ConnectionPlace()
  var life: (began: LoopCounter, ended: LoopCounter) { (.openingsBegan, .openingsEnded) }
  private var caller: Caller
  private var lingering = Lingering(budget: Opening.lingerBudget)
  var deadlinePlace = DeadlinePlace()

  /// The client of the connection: the peer, or the client that the PROXY protocol names.
  private struct Caller {
    var client: SocketAddress?
    var isTrusted: Bool
    var port: UInt16
    var isSecure = false
  }

  init(stream: SocketStream, peer: SocketAddress, listener: ListenerOnLoop, connections: LoopConnections) {
    (self.stream, self.peer, self.listener, self.connections) = (stream, peer, listener, connections)
    caller = Caller(client: peer, isTrusted: connections.admission.isTrusted(peer), port: listener.port)
    phase = listener.settings.proxyProtocol ? .header([]) : .greeting
    stream.delegate = self
  }

  func start() {
    if case .header = phase, !caller.isTrusted {
      return refuseHeader("the peer is not among trusted-proxies")
    }
    setDeadline(after: listener.settings.headerTimeout)
    stream.startReading()
  }

  // MARK: - Events of the socket

  func streamReadable() {
    switch phase {
    case .header(let held): readHeader(held)
    case .greeting: readGreeting()
    case .handshake(let certificates): shakeHands(certificates)
    case .lingering: readAndDrop()
    case .closed: break
    }
  }

  func streamWritable() {
    if case .handshake(let certificates) = phase { shakeHands(certificates) }
  }

  private func setDeadline(after duration: Duration) {
    connections.openings.set(self, due: connections.loop.now.advanced(by: duration))
  }

  func deadlinePassed() {
    switch phase {
    case .header: refuseHeader("no header came within header-timeout")
    case .handshake:
      note(.handshake, "it took longer than header-timeout")
      close()
    case .greeting, .lingering: close()
    case .closed: break
    }
  }

  // MARK: - PROXY protocol

  /// Reads the PROXY protocol's header. The bytes after the header stay on the socket, for the TLS handshake or a request.
  private func readHeader(_ held: [UInt8]) {
    guard let there = peek(ProxyHeader.maxBinary - held.count) else { return }
    switch ProxyHeader.parse(held + there) {
    case .needMore:
      if takeOff(there.count) { phase = .header(held + there) }
    case .header(let header, let count):
      guard takeOff(count - held.count) else { return }
      caller = named(by: header)
      headerIsRead()
    case .malformed(let why): refuseHeader(why)
    }
  }

  /// Returns the client that the header names. That client is trusted only if its own address is among `trusted-proxies`, because
  /// a proxy that only relays bytes does not check the fields of the requests.
  private func named(by header: ProxyHeader) -> Caller {
    var named = caller
    named.isSecure = header.isSecure
    switch header.named {
    case .proxyItself: return named
    case .nobody: named.isTrusted = false
    case .unix(let path):
      named.client = SocketAddress.unix(path: String(decoding: path, as: UTF8.self))
      named.isTrusted = false
    case .internet(let client, let server):
      named.client = SocketAddress(client)
      named.isTrusted = connections.admission.isTrusted(named.client)
      named.port = server.port
    }
    return named
  }

  private func headerIsRead() {
    guard listener.certificates == nil else {
      phase = .greeting
      return readGreeting()
    }
    serve(with: nil, of: nil)
  }

  private func refuseHeader(_ why: String) {
    connections.counters.add(.proxyHeaderRefused)
    connections.admission.openings.note(.proxyProtocol, of: peer, why: why, at: connections.loop.now)
    close()
  }

  // MARK: - TLS

  private func readGreeting() {
    guard let first = peek(1)?.first, let certificates = listener.certificates?.current else { return }
    // A TLS record never begins with a letter; a request in clear does.
    guard !(0x41...0x5a).contains(first) else { return answerInClear() }
    phase = .handshake(certificates)
    stream.secure(certificates.makeEngine())
    shakeHands(certificates)
  }

  private func shakeHands(_ certificates: TLSServerContext) {
    switch stream.handshake() {
    case .wantsRead, .wantsWrite: break
    case .failed(let failure):
      note(.handshake, failure.reason)
      linger()
    case .done:
      if let tls = stream.tls { connections.counters.add(tls.counter) }
      serve(with: stream.tls, of: certificates)
    }
  }

  private func note(_ trouble: OpeningLog.Trouble, _ why: String) {
    connections.counters.add(.handshakeFailed)
    connections.admission.openings.note(trouble, of: caller.client ?? peer, why: why, at: connections.loop.now)
  }

  /// Answers a request that came in clear on a TLS port: sends a 400, also in clear.
  private func answerInClear() {
    let reply = Replies.refusal(
      status: 400, reason: "This port speaks TLS, and the request came in clear: its URL has to begin with https.")
    let bytes = reply.bytes(date: connections.dateField)
    var received = Bytes(Array(repeating: 0, count: 2 * RefusedHead.limit))
    if case .bytes(let count) = received.withUnsafeMutableBytes({ stream.peek(into: $0) }) {
      received = received.prefix(count)
    } else {
      received = []
    }
    let result = bytes.withUnsafeBytes { stream.write($0, more: false) }
    connections.logRefusal(
      facts(nil, nil), status: 400, bytes: reply.body.count, RefusedHead(received),
      answer: bytes.dropLast(reply.body.count))
    guard result == .bytes(bytes.count) else { return close() }
    linger()
  }

  // MARK: - Ends

  /// Hands the connection over to HTTP.
  private func serve(with tls: TLSFacts?, of certificates: TLSServerContext?) {
    phase = .closed
    connections.openings.remove(self)
    connections.dispatch.serve(stream, facts(tls, certificates), on: listener, after: self)
  }

  private func facts(_ tls: TLSFacts?, _ certificates: TLSServerContext?) -> ClientFacts {
    ClientFacts(
      client: caller.client, isTrusted: caller.isTrusted, port: caller.port, isSecure: caller.isSecure, tls: tls,
      certificates: certificates)
  }

  private func linger() {
    stream.endUnprotected()
    phase = .lingering
    setDeadline(after: Self.lingerTime)
    stream.startReading()
    readAndDrop()
  }

  private func readAndDrop() {
    switch lingering.read(on: connections.loop, { stream.readUnprotected(into: $0) }) {
    case .goesOn: break
    case .enough, .ended, .broken: close()
    }
  }

  /// Leaves the client a short time: it has connected before the end, and would take a closed connection as an error.
  func drain() {
    if let grace = connections.drainGrace { setDeadline(after: grace) }
  }

  func abandonAll(_ end: BodyEnd) { close() }

  private func close() {
    if case .closed = phase { return }
    phase = .closed
    connections.openings.remove(self)
    stream.close()
    connections.connectionClosed(self)
  }

  // MARK: - Bytes as they are on the wire

  /// Returns the received bytes without taking them, at most `limit`; `nil` when there are none, or the connection has ended and
  /// is closed.
  private func peek(_ limit: Int) -> [UInt8]? {
    var buffer = connections.loop.takeReadBuffer()
    defer { connections.loop.giveReadBuffer(buffer) }
    let result = buffer.withUnsafeMutableBytes { bytes in
      stream.peek(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<min(limit, bytes.count)]))
    }
    switch result {
    case .bytes(let count): return Array(buffer[..<count])
    case .wouldBlock: return nil
    case .end, .failed:
      close()
      return nil
    }
  }

  /// Takes bytes from the socket and drops them, after ``peek(_:)`` has returned them. If that fails, closes the connection and
  /// returns `false`.
  private func takeOff(_ count: Int) -> Bool {
    var buffer = [UInt8](repeating: 0, count: count)
    guard buffer.withUnsafeMutableBytes({ stream.readUnprotected(into: $0) }) == .bytes(count) else {
      close()
      return false
    }
    return true
  }
}

extension TLSFacts {
  fileprivate var counter: LoopCounter {
    switch version {
    case .v12: isResumed ? .handshakesTLS12Resumed : .handshakesTLS12
    case .v13: isResumed ? .handshakesTLS13Resumed : .handshakesTLS13
    }
  }
}

extension SocketAddress {
  /// Converts an endpoint of the PROXY protocol. An IPv4-mapped IPv6 address becomes the IPv4 address.
  init?(_ endpoint: ProxyHeader.Endpoint) {
    let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
    let bytes =
      endpoint.bytes.count == 16 && endpoint.bytes.starts(with: mapped)
      ? Array(endpoint.bytes.dropFirst(12)) : endpoint.bytes
    let text =
      bytes.count == 4
      ? bytes.map(String.init).joined(separator: ".")
      : stride(from: 0, to: bytes.count - 1, by: 2)
        .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
    guard let address = SocketAddress.literal(text, port: endpoint.port) else { return nil }
    self = address
  }
}
