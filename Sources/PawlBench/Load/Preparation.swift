import PawlLoop
import PawlTLS

/// Finds what a run needs before it begins: the address of the server, and the reference for its responses.
struct Preparation {
  let loop: EventLoop
  let settings: RunSettings

  /// Finds the server of a URL.
  /// - Throws: ``RunProblem`` if the host has no address, no server accepts connections there, or the CA file is not valid.
  func place(of target: Target) throws(RunProblem) -> ServerPlace {
    var tls: TLSClientContext?
    if target.isSecure {
      do throws(TLSProblem) {
        tls = try TLSClientContext(tlsSettings)
      } catch { throw RunProblem("\(error)") }
    }
    return ServerPlace(address: try address(of: target), tls: tls)
  }

  private var tlsSettings: TLSClientSettings {
    TLSClientSettings(
      verifies: !settings.isInsecure, ca: settings.ca, minVersion: settings.tlsMin == 13 ? .v13 : .v12,
      maxVersion: settings.tlsMax == 12 ? .v12 : .v13, protocols: [settings.isHTTP2 ? "h2" : "http/1.1"])
  }

  /// Returns the first address of the host that accepts a connection.
  private func address(of target: Target) throws(RunProblem) -> SocketAddress {
    let candidates: [SocketAddress]
    if let literal = SocketAddress.literal(target.host, port: target.port) {
      candidates = [literal]
    } else {
      switch Resolver.askSystem(target.host) {
      case .success(let found): candidates = found.map { $0.withPort(target.port) }
      case .failure(let problem): throw RunProblem("\(target.host): \(problem)")
      }
    }
    var last = "no address"
    for candidate in candidates {
      switch tryConnecting(to: candidate) {
      case .success: return candidate
      case .failure(let problem): last = "\(problem)"
      }
    }
    throw RunProblem("\(target.authority): \(last)")
  }

  private func tryConnecting(to address: SocketAddress) -> Result<Void, ConnectError> {
    var outcome: Result<Void, ConnectError>?
    Connector.connect(to: address, loop: loop, timeout: .seconds(5)) { result in
      outcome = result.map { $0.close() }
    }
    loop.turn { outcome == nil }
    return outcome ?? .failure(.timedOut)
  }

  /// Returns the reference; `nil` if the scenario needs none.
  func reference(_ place: ServerPlace) throws(RunProblem) -> Reference? {
    if let file = settings.referenceFile { return try Reference(file: file) }
    if let target = settings.referenceURL {
      var plain = settings
      plain.isHTTP2 = false
      let other = Preparation(loop: loop, settings: plain)
      return try other.download(target, try other.place(of: target))
    }
    switch settings.scenario {
    case .hit: return try download(settings.target, place)
    case .ranges, .resume:
      let reference = try download(settings.target, place)
      guard reference.count > 0 else { throw RunProblem("\(settings.target.url): the body is empty") }
      return reference
    case .fill, .upload, .idle: return nil
    }
  }

  private func download(_ target: Target, _ place: ServerPlace) throws(RunProblem) -> Reference {
    var own = settings
    (own.target, own.rate) = (target, nil)
    var isOver = false
    let worker = Worker(
      loop, index: -1, settings: own, server: place, reference: nil, body: nil, exhausted: { isOver = true })
    let script = DownloadScript(RequestMaker(own))
    Lanes.build(worker, connections: 1) { _ in script }
    defer { worker.stop() }
    do throws(LoopError) { try worker.start(operations: 1, at: worker.now) } catch { throw RunProblem("\(error)") }
    loop.turn { !isOver }
    if let failure = script.failure { throw RunProblem("\(target.url): \(worker.trouble ?? "\(failure)")") }
    return Reference(script.take())
  }
}
