import CLinux
import PawlBase
import Testing

@testable import PawlLoop

@Suite("Resolver", .timeLimit(.minutes(1))) struct ResolverTests {
  typealias Answer = Result<[SocketAddress], ResolveError>

  /// A name service of the test's own.
  private final class Names: Sendable {
    let answers: Locked<[String: Answer]>
    let asked = Locked<[String]>([])
    init(_ answers: [String: Answer]) { self.answers = Locked(answers) }
    func lookUp(_ host: String) -> Answer {
      asked.withLock { $0.append(host) }
      return answers.withLock { $0[host] ?? .failure(.notFound) }
    }
  }

  private func address(_ text: String) throws -> SocketAddress { try #require(.parse(text)) }

  private func resolve(_ resolver: Resolver, _ host: String, _ loop: EventLoop, port: UInt16 = 80) throws -> Answer {
    var answer: Answer?
    resolver.resolve(host: host, port: port, on: loop) { answer = $0 }
    #expect(answer == nil, "the completion came before resolve returned")
    wait(loop) { answer != nil }
    return try #require(answer)
  }

  @Test("literal addresses and unix sockets need no look-up")
  func takesLiterals() throws {
    let loop = try EventLoop(index: 0)
    let names = Names([:])
    let resolver = Resolver(lookUp: names.lookUp)
    defer { resolver.stop() }
    #expect(try resolve(resolver, "192.0.2.1", loop) == .success([try address("192.0.2.1:80")]))
    #expect(try resolve(resolver, "::1", loop) == .success([try address("[::1]:80")]))
    #expect(try resolve(resolver, "[2001:db8::1]", loop) == .success([try address("[2001:db8::1]:80")]))
    #expect(try resolve(resolver, "unix:/run/app", loop) == .success([try address("unix:/run/app")]))
    for bad in ["", "a\0b", "unix:"] { #expect(try resolve(resolver, bad, loop) == .failure(.notFound)) }
    #expect(names.asked.withLock { $0 } == [])
  }

  @Test("keeps an answer for 10 s, for every port and spelling, and follows a changed one then")
  func caches() throws {
    let clock = ManualClock()
    let loop = try EventLoop(index: 0)
    let names = Names(["app": .success([try address("192.0.2.1:0")])])
    let resolver = Resolver(clock: clock, lookUp: names.lookUp)
    defer { resolver.stop() }
    #expect(try resolve(resolver, "app", loop) == .success([try address("192.0.2.1:80")]))
    let changed = try address("192.0.2.2:0")
    names.answers.withLock { $0["app"] = .success([changed]) }
    clock.advance(by: .milliseconds(9_999))
    #expect(try resolve(resolver, "App", loop, port: 81) == .success([try address("192.0.2.1:81")]))
    #expect(names.asked.withLock { $0.count } == 1)
    clock.advance(by: .milliseconds(1))
    #expect(try resolve(resolver, "app", loop) == .success([try address("192.0.2.2:80")]))
    #expect(names.asked.withLock { $0.count } == 2)
  }

  @Test("asks once for all who want the same name at the same time")
  func coalesces() throws {
    let loop = try EventLoop(index: 0)
    let found = try address("192.0.2.1:0")
    let gate = Gate()
    let asked = Locked(0)
    let resolver = Resolver(lookUp: { _ in
      asked.withLock { $0 += 1 }
      gate.wait()
      return .success([found])
    })
    defer { resolver.stop() }
    var answers: [Answer] = []
    for port in 1...50 { resolver.resolve(host: "app", port: UInt16(port), on: loop) { answers.append($0) } }
    gate.open()
    wait(loop) { answers.count == 50 }
    #expect(asked.withLock { $0 } == 1)
    #expect(answers == (1...50).map { .success([found.withPort(UInt16($0))]) })
  }

  @Test("believes for a second that a name is missing, and retries a silent name service at once")
  func forgetsFailures() throws {
    let clock = ManualClock()
    let loop = try EventLoop(index: 0)
    let names = Names(["gone": .failure(.notFound), "slow": .failure(.temporary), "empty": .success([])])
    let resolver = Resolver(clock: clock, lookUp: names.lookUp)
    defer { resolver.stop() }
    for _ in 0..<2 {
      #expect(try resolve(resolver, "gone", loop) == .failure(.notFound))
      #expect(try resolve(resolver, "empty", loop) == .failure(.notFound))
      #expect(try resolve(resolver, "slow", loop) == .failure(.temporary))
    }
    #expect(names.asked.withLock { $0 } == ["gone", "empty", "slow", "slow"])
    clock.advance(by: .seconds(1))
    #expect(try resolve(resolver, "gone", loop) == .failure(.notFound))
    #expect(names.asked.withLock { $0.count } == 5)
  }

  @Test("while the name service is silent the last answer stands in, for ten minutes")
  func standsIn() throws {
    let clock = ManualClock()
    let loop = try EventLoop(index: 0)
    let found = try address("192.0.2.1:0")
    let names = Names(["app": .success([found])])
    let resolver = Resolver(clock: clock, lookUp: names.lookUp)
    defer { resolver.stop() }
    #expect(try resolve(resolver, "app", loop) == .success([found.withPort(80)]))
    names.answers.withLock { $0["app"] = .failure(.temporary) }
    for _ in 0..<2 {
      clock.advance(by: .seconds(299))
      #expect(try resolve(resolver, "app", loop) == .success([found.withPort(80)]))
    }
    clock.advance(by: .seconds(2))
    #expect(try resolve(resolver, "app", loop) == .failure(.temporary))
  }

  @Test("a name that does not exist any more is not found, whatever it was before")
  func forgetsWithdrawnNames() throws {
    let clock = ManualClock()
    let loop = try EventLoop(index: 0)
    let names = Names(["app": .success([try address("192.0.2.1:0")])])
    let resolver = Resolver(clock: clock, lookUp: names.lookUp)
    defer { resolver.stop() }
    _ = try resolve(resolver, "app", loop)
    names.answers.withLock { $0["app"] = nil }
    clock.advance(by: .seconds(10))
    #expect(try resolve(resolver, "app", loop) == .failure(.notFound))
  }

  @Test("asks the system")
  func asksSystem() throws {
    let loop = try EventLoop(index: 0)
    let resolver = Resolver()
    let found = try resolve(resolver, "localhost", loop, port: 8080).get()
    #expect(!found.isEmpty && found.allSatisfy { $0.isLoopback && $0.port == 8080 })
    #expect(Set(found).count == found.count)
    resolver.stop()
    #expect(try resolve(resolver, "other.invalid", loop) == .failure(.temporary))
  }

  @Test(
    "maps errors",
    arguments: [(EAI_NONAME, ResolveError.notFound), (EAI_AGAIN, .temporary), (EAI_FAIL, .failed(EAI_FAIL))])
  func maps(_ code: CInt, _ expected: ResolveError) {
    #expect(ResolveError(code: code) == expected)
    #expect(!expected.description.isEmpty)
  }
}
