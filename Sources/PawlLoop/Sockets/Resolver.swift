import CLinux
import PawlBase

/// The reason why resolving a name failed.
package enum ResolveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no such name, or the name has no address.
  case notFound
  /// The name service does not answer now. Another attempt may succeed.
  case temporary
  /// Any other reason; the code of `getaddrinfo(3)`.
  case failed(CInt)

  package var description: String {
    switch self {
    case .notFound: "no such host"
    case .temporary: "the name service does not answer"
    case .failed(let code): String(cString: gai_strerror(code))
    }
  }

  init(code: CInt) {
    switch code {
    case EAI_NONAME, EAI_NODATA, EAI_ADDRFAMILY: self = .notFound
    case EAI_AGAIN: self = .temporary
    default: self = .failed(code)
    }
  }
}

/// Resolves names to addresses on threads of its own. A result is used for 10 s, so that changed addresses are found soon.
/// Several requests for one name share one look-up.
package final class Resolver: Sendable {
  package typealias LookUp = @Sendable (_ host: String) -> Result<[SocketAddress], ResolveError>

  /// How long a result is used.
  package static let lifetime: Duration = .seconds(10)
  /// How long the result "no such host" is used.
  package static let absenceLifetime: Duration = .seconds(1)
  /// How long the last good result is used while the name service does not answer.
  package static let staleLifetime: Duration = .seconds(600)
  private static let maxNames = 1024

  private struct Answer {
    var addresses: Result<[SocketAddress], ResolveError>
    var freshUntil: Monotonic
    var lastGood: (addresses: [SocketAddress], until: Monotonic)?
  }
  private struct State {
    var answers: [String: Answer] = [:]
    var waiting: [String: [Resolution]] = [:]
  }
  private let state = Locked(State())
  private let pool: WorkerPool
  private let clock: any LoopClock
  private let lookUp: LookUp

  /// - Parameter lookUp: the function that resolves a name; may block. By default it asks the system (`getaddrinfo`).
  package init(
    threads: Int = 4, clock: any LoopClock = SystemClock(), lookUp: @escaping LookUp = Resolver.askSystem
  ) {
    pool = WorkerPool(threads: threads, name: "pawl-dns")
    self.clock = clock
    self.lookUp = lookUp
  }

  /// Stops the threads after the running look-ups are finished; their results are delivered as usual.
  package func stop() { pool.stop() }

  /// Resolves `host` to its addresses, in the order in which to try them. Literal addresses (with or without brackets) and
  /// `unix:PATH` need no look-up. On the loop. `completion` is called once, on the loop, after this function has returned.
  package func resolve(
    host: String, port: UInt16, on loop: EventLoop,
    completion: @escaping (Result<[SocketAddress], ResolveError>) -> Void
  ) {
    loop.preconditionOnLoop()
    if let answer = Resolver.withoutLookUp(host, port) { return loop.nextTurn { completion(answer) } }
    let name = host.lowercased()
    let now = clock.now()
    let pending = Resolution(port: port, loop: loop, completion)
    enum Step { case answered(Result<[SocketAddress], ResolveError>), joined, ask }
    let step: Step = state.withLock { state in
      if let answer = state.answers[name], now < answer.freshUntil { return .answered(answer.addresses) }
      let isRunning = state.waiting[name] != nil
      state.waiting[name, default: []].append(pending)
      return isRunning ? .joined : .ask
    }
    switch step {
    case .answered(let addresses): loop.nextTurn { completion(addresses.map { $0.map { $0.withPort(port) } }) }
    case .joined: break
    case .ask:
      if !pool.run({ [self] in answer(name, lookUp(name)) }) { answer(name, .failure(.temporary)) }
    }
  }

  private static func withoutLookUp(_ host: String, _ port: UInt16) -> Result<[SocketAddress], ResolveError>? {
    if host.hasPrefix("unix:") {
      return SocketAddress.parse(host).map { .success([$0]) } ?? .failure(.notFound)
    }
    if let literal = SocketAddress.literal(host, port: port) { return .success([literal]) }
    // `getaddrinfo` would end the name at a NUL, and resolves an empty name to this machine.
    return host.isEmpty || host.utf8.contains(0) ? .failure(.notFound) : nil
  }

  /// Stores the result and delivers it to all requests that wait for it. On a worker thread, or on the calling loop if the pool
  /// has stopped.
  private func answer(_ name: String, _ fresh: Result<[SocketAddress], ResolveError>) {
    let now = clock.now()
    let (waiting, answer) = state.withLock { state in
      let answer = Resolver.answer(fresh, after: state.answers[name], now: now)
      if state.answers.count >= Resolver.maxNames {
        state.answers = state.answers.filter { now < $0.value.freshUntil }
        if state.answers.count >= Resolver.maxNames { state.answers = [:] }
      }
      state.answers[name] = answer
      return (state.waiting.removeValue(forKey: name) ?? [], answer)
    }
    for pending in waiting { pending.deliver(answer.addresses) }
  }

  private static func answer(
    _ fresh: Result<[SocketAddress], ResolveError>, after earlier: Answer?, now: Monotonic
  ) -> Answer {
    switch fresh {
    case .success(let addresses) where !addresses.isEmpty:
      return Answer(
        addresses: fresh, freshUntil: now.advanced(by: lifetime),
        lastGood: (addresses, now.advanced(by: staleLifetime)))
    case .success, .failure(.notFound):
      return Answer(addresses: .failure(.notFound), freshUntil: now.advanced(by: absenceLifetime))
    case .failure(let error):
      let soon = now.advanced(by: absenceLifetime)
      guard let good = earlier?.lastGood, now < good.until else {
        return Answer(addresses: .failure(error), freshUntil: now)
      }
      return Answer(addresses: .success(good.addresses), freshUntil: soon, lastGood: good)
    }
  }

  /// Asks `getaddrinfo(3)`: hosts file and name service, IPv6 and IPv4 addresses in the order of RFC 6724. Blocks.
  package static let askSystem: LookUp = { host in
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &first)
    guard code == 0 else { return .failure(ResolveError(code: code)) }
    defer { freeaddrinfo(first) }
    var addresses: [SocketAddress] = []
    var entry = first
    while let current = entry?.pointee {
      if let address = address(of: current), !addresses.contains(address) { addresses.append(address) }
      entry = current.ai_next
    }
    return addresses.isEmpty ? .failure(.notFound) : .success(addresses)
  }

  private static func address(of entry: addrinfo) -> SocketAddress? {
    guard let form = entry.ai_addr, Int(entry.ai_addrlen) <= MemoryLayout<sockaddr_storage>.size else { return nil }
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.copyMemory(from: UnsafeRawBufferPointer(start: form, count: Int(entry.ai_addrlen)))
    }
    return SocketAddress(storage, length: entry.ai_addrlen)
  }
}

/// One request for a name, and the way back to its loop. The completion is called and released on that loop.
private final class Resolution: MailboxItem, @unchecked Sendable {
  // Safe: one thread at a time uses this object. The loop makes it, the resolving thread stores the result, and the mailbox
  // passes it back to the loop.
  private let port: UInt16
  private let loop: EventLoop
  private var completion: ((Result<[SocketAddress], ResolveError>) -> Void)?
  private var addresses: Result<[SocketAddress], ResolveError>?

  init(
    port: UInt16, loop: EventLoop, _ completion: @escaping (Result<[SocketAddress], ResolveError>) -> Void
  ) {
    (self.port, self.loop, self.completion) = (port, loop, completion)
  }

  func deliver(_ addresses: Result<[SocketAddress], ResolveError>) {
    self.addresses = addresses
    loop.run(self)
  }

  override func perform() {
    guard let completion, let addresses else { return }
    (self.completion, self.addresses) = (nil, nil)
    completion(addresses.map { $0.map { $0.withPort(port) } })
  }
}
