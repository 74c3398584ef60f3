import PawlLoop
import PawlTLS

/// A connection to the server that can be opened again after it was closed. Subclasses implement HTTP/1.1 and HTTP/2.
class Link: StreamDelegate {
  enum Phase: Hashable { case closed, connecting, shaking, open }

  let worker: Worker
  private(set) var phase = Phase.closed
  private(set) var stream: SocketStream?
  private var connector: Connector?

  init(_ worker: Worker) { self.worker = worker }

  // MARK: For the subclass

  func opened() {}
  func openFailed(_ failure: Failure) {}
  func readable() {}
  func writable() {}

  func open() {
    guard phase == .closed else { return }
    phase = .connecting
    worker.tally.connections += 1
    connector = Connector.connect(
      to: worker.server.address, loop: worker.loop, timeout: .seconds(worker.settings.timeout),
      receiveBuffer: worker.settings.receiveBuffer
    ) { [unowned self] in connected($0) }
  }

  func close() {
    connector?.cancel()
    connector = nil
    stream?.close()
    stream = nil
    phase = .closed
  }

  // MARK: Opening

  private func connected(_ outcome: Result<SocketStream, ConnectError>) {
    connector = nil
    worker.tick()
    switch outcome {
    case .failure(let problem): fail(.connect, "\(problem)")
    case .success(let stream):
      stream.delegate = self
      self.stream = stream
      guard let tls = worker.server.tls else { return begin() }
      phase = .shaking
      stream.secure(tls.makeEngine(serverName: worker.settings.target.host, place: worker.settings.target.authority))
      shake()
    }
  }

  private func shake() {
    switch stream?.handshake() {
    case .wantsRead, .wantsWrite: break
    case .done: begin()
    case .failed(let problem): fail(.handshake, "TLS: \(problem.reason)")
    case nil: fail(.handshake, "TLS: the connection is closed")
    }
  }

  private func begin() {
    phase = .open
    stream?.startReading()
    opened()
  }

  private func fail(_ failure: Failure, _ reason: String) {
    worker.trouble = reason
    close()
    openFailed(failure)
  }

  func streamReadable() {
    worker.tick()
    if phase == .open { readable() } else { shake() }
  }

  func streamWritable() {
    worker.tick()
    if phase == .open { writable() } else { shake() }
  }
}
