import PawlHTTP
import PawlLoop
import PawlWire

/// One health check of one node, on a connection of its own that counts against no limit.
final class NodeCheck: StreamDelegate {
  private let upstream: Upstream
  private let loop: EventLoop
  private let url: Int
  private let check: NodeCheckSettings
  private var then: ((String?) -> Void)?
  private var dial: OriginDial?
  private var stream: SocketStream?
  private var unsent: [UInt8]
  private var received: [UInt8] = []
  private var parser = ResponseParser()
  private lazy var timer: LoopTimer = loop.makeTimer { [weak self] in self?.ranOut() }

  /// - Parameter then: called once, with the failure, or `nil` if the node works; never after ``cancel()``.
  init(
    _ check: NodeCheckSettings, of url: Int, _ upstream: Upstream, on loop: EventLoop, then: @escaping (String?) -> Void
  ) {
    (self.check, self.url, self.upstream, self.loop, self.then) = (check, url, upstream, loop, then)
    unsent = Self.question(check, to: upstream.settings.urls[url])
  }

  static func question(_ check: NodeCheckSettings, to url: UpstreamURL) -> [UInt8] {
    var head = RequestHead(
      method: .get, target: Array(url.basePath.utf8)[...] + check.path, authority: url.authority[...], framing: .none)
    head.fields.append(named: Bytes("User-Agent"), Bytes("pawl"))
    head.fields.append(named: Bytes("Connection"), Bytes("close"))
    var bytes: [UInt8] = []
    HeadWriter.write(head, into: &bytes)
    return bytes
  }

  func start() {
    timer.schedule(after: check.timeout)
    let dial = OriginDial(upstream: upstream, loop: loop, urls: [url], tells: false) { [weak self] in self?.dialled($0)
    }
    self.dial = dial
    dial.start()
  }

  func cancel() {
    then = nil
    letGo()
  }

  private func dialled(_ result: Result<OriginConnection, ProxyError>) {
    dial = nil
    switch result {
    case .failure(let error): finish(error.reason)
    case .success(let connection):
      guard then != nil else { return connection.stream.close() }
      stream = connection.stream
      connection.stream.delegate = self
      connection.stream.startReading()
      streamWritable()
    }
  }

  func streamWritable() {
    guard let stream, !unsent.isEmpty else { return }
    switch unsent.withUnsafeBytes({ stream.write($0, more: false) }) {
    case .bytes(let count):
      unsent.removeFirst(count)
      if !unsent.isEmpty || stream.bytesKept > 0 { stream.wantWritable() }
    case .wouldBlock: stream.wantWritable()
    case .end: finish("closed before the request was sent")
    case .failed(let code): finish(errorText(code))
    }
  }

  func streamReadable() {
    guard let stream else { return }
    var buffer = [UInt8](repeating: 0, count: 4096)
    switch buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) {
    case .bytes(let count):
      received += buffer[..<count]
      look()
    case .wouldBlock: break
    case .end: finish("closed before the end of a head")
    case .failed(let code): finish(stream.tlsFailure.map { ProxyError($0, address: nil).reason } ?? errorText(code))
    }
  }

  /// Parses what was received. Interim responses are skipped (RFC 9110 §15.2). The limits of heads also limit how many bytes are
  /// kept.
  private func look() {
    while then != nil {
      switch parser.parse(received, 0..<received.count) {
      case .needMore: return
      case .refused(let error): finish(error.reason)
      case .head(let head, let count):
        received.removeFirst(count)
        parser.reset()
        if (100..<200).contains(head.status) { continue }
        finish(check.statuses.contains { $0.contains(head.status) } ? nil : "status \(head.status)")
      }
    }
  }

  private func ranOut() { finish("no answer within \(check.timeout)") }

  private func finish(_ failure: String?) {
    let heir = then
    cancel()
    heir?(failure)
  }

  private func letGo() {
    timer.close()
    dial?.cancel()
    stream?.close()
    (dial, stream) = (nil, nil)
  }
}
