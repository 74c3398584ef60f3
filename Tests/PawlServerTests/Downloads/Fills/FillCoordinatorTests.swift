import CLinux
import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import Testing

@testable import PawlServer

@Suite("Who reads a body, and which of it is on its way") struct FillCoordinatorTests {
  private static let total: UInt64 = 64 << 20
  private static let strong: [(FieldName, String)] = [(.etag, "\"v\"")]

  private func stored(_ bench: ServerBench, _ fields: [(FieldName, String)] = strong) throws -> StoredResponse {
    try bench.stored(total: Self.total, held: 0, fields)
  }

  private func need(
    _ coordinator: FillCoordinator, _ position: UInt64, held: HeldBytes = HeldBytes(), joinedAt failures: Int = 0,
    _ bench: ServerBench
  ) -> String {
    let need = coordinator.need(
      position, through: Self.total, held: held, joinedAt: failures, now: bench.running.clock.now())
    switch need {
    case .wait: return "wait"
    case .fetch(let span): return "\(span)"
    case .replay(let span): return "replay \(span)"
    case .fail(let end): return "\(end.party.rawValue) \(end.reason)"
    }
  }

  @Test("of an error page no range is asked for, whatever tag it bears")
  func errorPages() throws {
    for (status, expected) in [(200, true), (404, false), (203, false)] {
      let response = try ServerBench().stored(total: 100, held: 10, status: status, Self.strong)
      #expect(FillCoordinator.canFetchRanges(response) == expected)
    }
  }

  @Test(
    "a reader ahead of a fill asks for its own range where the fill would need more than half a second by its speed")
  func ahead() {
    typealias Course = FillCoordinator.Course
    func span(_ start: UInt64, age: Duration, _ now: Monotonic) -> Course {
      Course(start: start, began: Monotonic(nanoseconds: now.nanoseconds - UInt64(age.wholeNanoseconds)))
    }
    let now = Monotonic(nanoseconds: 1_000_000_000_000)
    // 1 MiB in 100 ms: 10 MiB a second, 5 MiB within half a second.
    var held = HeldBytes()
    held.insert(0..<(1 << 20))
    let first = span(0, age: .milliseconds(100), now)
    func isFar(_ position: UInt64, of span: Course, usually rate: Double? = nil) -> Bool {
      FillCoordinator.isFarAhead(position, of: span, held, 0, usually: rate, now)
    }
    #expect(!isFar(6 << 20, of: first) && isFar((6 << 20) + 100, of: first))
    #expect(!isFar(1 << 20, of: first))
    // A moment earlier nobody knows how fast it is, but where another is, or was, under way: then half a gigabit a second.
    let young = span(0, age: .milliseconds(99), now)
    #expect(!isFar(33 << 20, of: young) && isFar((33 << 20) + 1, of: young))
    let later = span(20 << 20, age: .milliseconds(1), now)
    let usual = Double(10 << 20)
    #expect(!isFar(21 << 20, of: later, usually: usual) && isFar(40 << 20, of: later, usually: usual))
    // One that brings nothing is not waited for, however near; within one piece it is.
    let stalled = span(30 << 20, age: .seconds(3), now)
    #expect(isFar((31 << 20), of: stalled, usually: usual))
    #expect(!isFar((30 << 20) + FillCoordinator.jumpDistance, of: stalled))
  }

  @Test("a body is kept while anybody reads it")
  func readers() throws {
    let bench = try ServerBench()
    let response = try stored(bench)
    let (one, other) = (Somebody(), Somebody())
    #expect(FillCoordinator.existing(response) == nil)
    let (coordinator, failures) = FillCoordinator.join(ObjectIdentifier(one), response)
    #expect(failures == 0 && coordinator.hasReaders)
    _ = FillCoordinator.join(ObjectIdentifier(other), response)
    coordinator.moved(ObjectIdentifier(one))
    #expect(FillCoordinator.existing(response) === coordinator)
    coordinator.left(ObjectIdentifier(one))
    coordinator.left(ObjectIdentifier(other))
    #expect(FillCoordinator.existing(response) == nil)
  }

  @Test("what nobody fetches is fetched, aligned, up to the next held byte")
  func fetches() throws {
    let bench = try ServerBench()
    let response = try stored(bench)
    let reader = Somebody()
    let (coordinator, _) = FillCoordinator.join(ObjectIdentifier(reader), response)
    #expect(need(coordinator, 0, bench) == "0..<\(Self.total)")
    let held = HeldBytes([1 << 20..<2 << 20])
    #expect(need(coordinator, 0, held: held, bench) == "0..<\(1 << 20)")
    coordinator.left(ObjectIdentifier(reader))
  }

  @Test("what cannot be proven the same is not fetched")
  func unproven() throws {
    let bench = try ServerBench()
    let reader = Somebody()
    for fields in [[], [(.etag, "W/\"v\"")], [(FieldName.lastModified, today), (.date, today)]]
      as [[(FieldName, String)]]
    {
      let response = try stored(bench, fields)
      let (coordinator, _) = FillCoordinator.join(ObjectIdentifier(reader), response)
      #expect(need(coordinator, 0, bench) == "origin rest-cannot-be-proven")
      coordinator.left(ObjectIdentifier(reader))
    }
    let response = try stored(bench)
    let (coordinator, _) = FillCoordinator.join(ObjectIdentifier(reader), response)
    coordinator.originRefusesRanges()
    #expect(!coordinator.canFetchRanges)
    #expect(need(coordinator, 0, bench) == "origin rest-cannot-be-proven")
    coordinator.left(ObjectIdentifier(reader))
  }

  @Test("a reader waits for a fill that brings it its bytes soon, and jumps ahead of one that does not")
  func jumps() throws {
    let bench = try ServerBench()
    let response = try stored(bench, Self.strong + [(.acceptRanges, "bytes")])
    let reader = Somebody()
    let (coordinator, _) = FillCoordinator.join(ObjectIdentifier(reader), response)
    Fill.start(0..<Self.total, of: response, for: bench.request(), in: bench.store, on: bench.downloads)
    #expect(coordinator.isFilling && FillCoordinator.isFilling(response))
    #expect(need(coordinator, 0, bench) == "wait")
    #expect(need(coordinator, 16 << 20, bench) == "wait")
    let far: UInt64 = 40 << 20
    // Nothing is known of its speed yet: it is taken for fast.
    #expect(need(coordinator, 32 << 20, bench) == "wait")
    #expect(need(coordinator, far, bench) == "\(far)..<\(Self.total)")
    // Fast enough by what it brought in its first two seconds to be there in half a second, or not.
    bench.running.clock.advance(by: .seconds(2))
    #expect(need(coordinator, far, held: HeldBytes([0..<36 << 20]), bench) == "wait")
    #expect(need(coordinator, far, held: HeldBytes([0..<20 << 20]), bench) == "\(far)..<\(Self.total)")
    bench.serverLoop.closeOrigins()
    #expect(need(coordinator, far, bench) != "wait")
    coordinator.left(ObjectIdentifier(reader))
  }

  @Test("what is lost comes by range, all of its segments, beside others that have passed by it; else from zero")
  func lost() throws {
    let bench = try ServerBench { $0.cache = "memory-object = 0" }
    let mebibyte: UInt64 = 1 << 20
    for (fields, expected) in [(Self.strong, "\(mebibyte)..<\(2 * mebibyte)"), ([], "replay 0..<\(2 * mebibyte)")] {
      let response = try bench.stored(total: 4 * mebibyte, held: 2 << 20, fields)
      let reader = Somebody()
      let (coordinator, joined) = FillCoordinator.join(ObjectIdentifier(reader), response)
      let id = response.body.id.hex
      #expect(truncate("\(bench.cacheDirectory)/bodies/\(id.prefix(2))/\(id)", off_t(mebibyte)) == 0)
      #expect(!response.body.isUntouched())
      func needed(_ position: UInt64, joinedAt: Int = joined) -> String {
        let need = coordinator.need(
          position, through: 4 * mebibyte, held: response.body.known, joinedAt: joinedAt, now: bench.running.clock.now()
        )
        switch need {
        case .wait: return "wait"
        case .fetch(let span): return "\(span)"
        case .replay(let span): return "replay \(span)"
        case .fail(let end): return end.reason
        }
      }
      #expect(needed(mebibyte + 5) == expected && !FillCoordinator.canMend(response))
      if !fields.isEmpty {
        // One that runs has been there before.
        Fill.start(
          2 * mebibyte..<4 * mebibyte, of: response, for: bench.request(), in: bench.store, on: bench.downloads)
        #expect(needed(mebibyte + 5) == expected)
        Fill.start(mebibyte..<2 * mebibyte, of: response, for: bench.request(), in: bench.store, on: bench.downloads)
        #expect(needed(mebibyte + 5) == "wait" && needed(3 * mebibyte) == "wait")
      }
      bench.serverLoop.closeOrigins()
      coordinator.left(ObjectIdentifier(reader))
    }
  }

  @Test(
    "a complete body, and one of which at most half is lost, is mended rather than fetched anew",
    arguments: [4, 3, 2, 1])
  func mends(_ left: UInt64) throws {
    let bench = try ServerBench { $0.cache = "memory-object = 0" }
    let response = try bench.stored(total: 4 << 20)
    #expect(FillCoordinator.canMend(response))
    let id = response.body.id.hex
    let path = "\(bench.cacheDirectory)/bodies/\(id.prefix(2))/\(id)"
    #expect(left == 4 || truncate(path, off_t(left << 20)) == 0)
    #expect(response.body.isUntouched() == (left == 4))
    #expect(FillCoordinator.canMend(response) == (left >= 2) && FillCoordinator.canMend(response, isNamed: true))
  }

  @Test("never more than eight spans of one body at a time")
  func spans() throws {
    let bench = try ServerBench()
    let response = try stored(bench)
    let reader = Somebody()
    let (coordinator, _) = FillCoordinator.join(ObjectIdentifier(reader), response)
    for span in 0..<FillCoordinator.spanLimit {
      let start = UInt64(span) << 20
      #expect(need(coordinator, start, bench) != "wait")
      Fill.start(start..<start + 1 << 20, of: response, for: bench.request(), in: bench.store, on: bench.downloads)
    }
    #expect(need(coordinator, 60 << 20, bench) == "wait")
    bench.serverLoop.closeOrigins()
    coordinator.left(ObjectIdentifier(reader))
  }

  @Test("who waited for a fill that failed ends with it; who comes later may try again")
  func failures() throws {
    let bench = try ServerBench()
    let response = try stored(bench)
    let reader = Somebody()
    let (coordinator, joined) = FillCoordinator.join(ObjectIdentifier(reader), response)
    Fill.start(0..<Self.total, of: response, for: bench.request(), in: bench.store, on: bench.downloads)
    let fill = try #require(bench.downloads.fills.values.first)
    coordinator.failed(fill, BodyEnd(party: .origin, reason: "why"))
    #expect(need(coordinator, 0, joinedAt: joined, bench) == "origin why")
    let (_, later) = FillCoordinator.join(ObjectIdentifier(fill), response)
    #expect(need(coordinator, 0, joinedAt: later, bench) == "0..<\(Self.total)")
    bench.serverLoop.closeOrigins()
    coordinator.left(ObjectIdentifier(fill))
    coordinator.left(ObjectIdentifier(reader))
  }
}

/// Somebody with an identity.
private final class Somebody {}
