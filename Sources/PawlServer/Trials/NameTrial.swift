import PawlConfig
import PawlLoop

/// Resolves the names of upstreams, all at the same time and for a limited time.
enum NameTrial {
  /// The longest time for all names together.
  static let patience = Duration.seconds(5)

  /// Returns what each name resolves to now; for one that has no answer in time, ``ResolveError/temporary``. Blocking.
  /// - Parameter lookUp: the function that resolves a name.
  static func answers(
    to names: [String], within patience: Duration = NameTrial.patience, lookUp: @escaping Resolver.LookUp
  ) throws(LoopError) -> [String: Result<[SocketAddress], ResolveError>] {
    if names.isEmpty { return [:] }
    let loop = try EventLoop(index: -1)
    let resolver = Resolver(threads: min(8, names.count), lookUp: lookUp)
    var answers = [String: Result<[SocketAddress], ResolveError>]()
    let timer = loop.makeTimer { loop.stop() }
    timer.schedule(after: patience)
    for name in Set(names) {
      resolver.resolve(host: name, port: 0, on: loop) { result in
        answers[name] = result
        if answers.count == Set(names).count { loop.stop() }
      }
    }
    loop.runUntilStopped()
    for name in names where answers[name] == nil { answers[name] = .failure(.temporary) }
    return answers
  }
}
