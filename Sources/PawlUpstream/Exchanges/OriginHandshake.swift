import PawlHTTP
import PawlLoop
import PawlTLS

/// The TLS handshake on one new connection to an origin. The caller has to retain this object.
final class OriginHandshake: StreamDelegate {
  private let stream: SocketStream
  private let address: SocketAddress
  private var completion: ((Result<SocketStream, ProxyError>) -> Void)?
  private lazy var timer: LoopTimer = stream.loop.makeTimer { [weak self] in self?.ranOut() }

  /// - Parameter completion: called once, never before ``start(timeout:)`` has returned, and not after ``cancel()``.
  init(
    _ stream: SocketStream, engine: TLSEngine, address: SocketAddress,
    completion: @escaping (Result<SocketStream, ProxyError>) -> Void
  ) {
    (self.stream, self.address, self.completion) = (stream, address, completion)
    stream.delegate = self
    stream.secure(engine)
  }

  func start(timeout: Duration) {
    timer.schedule(after: timeout)
    stream.loop.nextTurn { [weak self] in self?.step() }
  }

  func cancel() {
    completion = nil
    timer.close()
    stream.close()
  }

  func streamReadable() { step() }
  func streamWritable() { step() }

  private func step() {
    guard completion != nil else { return }
    switch stream.handshake() {
    case .wantsRead, .wantsWrite: break
    case .done:
      stream.delegate = nil
      finish(.success(stream))
    case .failed(let failure): finish(.failure(ProxyError(failure, address: address)))
    }
  }

  private func ranOut() {
    let details = "\(address): TLS handshake not within the connect timeout"
    finish(.failure(ProxyError(.connectionTimeout, details: details)))
  }

  private func finish(_ result: Result<SocketStream, ProxyError>) {
    guard let heir = completion else { return }
    completion = nil
    timer.close()
    if case .failure = result { stream.close() }
    heir(result)
  }
}

extension ProxyError {
  /// The error for a failure of TLS (RFC 9209 §2.3.14 to §2.3.16).
  init(_ failure: TLSFailure, address: SocketAddress?) {
    let kind: Kind =
      switch failure.kind {
      case .protocolError: .tlsProtocolError
      case .certificate: .tlsCertificateError
      case .alert: .tlsAlertReceived
      }
    self.init(kind, details: address.map { "\($0): \(failure.reason)" } ?? failure.reason)
    if case .alert(let number) = failure.kind { alert = number }
  }
}
