import PawlLoop
import Testing

@testable import PawlServer

@Suite("What a loop offers to all") struct LoopServicesTests {
  @Test("the date is that of the clock, made once a second")
  func date() throws {
    let bench = try ServerBench()
    #expect(String(decoding: bench.services.dateField, as: UTF8.self) == today)
    bench.running.clock.advance(by: .seconds(1))
    #expect(String(decoding: bench.services.dateField, as: UTF8.self) == "Tue, 14 Nov 2023 22:13:21 GMT")
  }

  @Test("what is to be done later is done once, in order of time, and not after it is forgotten")
  func reminders() throws {
    let bench = try ServerBench()
    var done: [Int] = []
    bench.services.perform(after: .seconds(2)) { done.append(2) }
    bench.services.perform(after: .seconds(1)) { done.append(1) }
    bench.services.perform(after: .seconds(9)) { done.append(9) }
    bench.pass(.seconds(3))
    #expect(done == [1, 2])
    bench.services.forgetReminders()
    bench.pass(.seconds(20))
    #expect(done == [1, 2])
  }

  @Test("an upstream has one pool of connections on a loop")
  func pools() throws {
    let (bench, other) = (try ServerBench(), try ServerBench())
    let pool = bench.services.pool(for: bench.route.upstream)
    #expect(bench.services.pool(for: other.route.upstream) !== pool)
    #expect(bench.services.pool(for: bench.route.upstream) === pool)
  }
}
