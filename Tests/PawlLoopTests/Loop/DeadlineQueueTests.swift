import Testing

@testable import PawlLoop

@Suite("Deadline queue", .timeLimit(.minutes(1))) struct DeadlineQueueTests {
  /// Notes its name in the diary when its deadline passes.
  private final class Guest: DeadlineHolder {
    var deadlinePlace = DeadlinePlace()
    let name: Int
    let diary: Diary
    var onDeadline: (() -> Void)?

    init(_ name: Int, _ diary: Diary) { (self.name, self.diary) = (name, diary) }

    func deadlinePassed() {
      diary.names.append(name)
      onDeadline?()
    }
  }
  private final class Diary { var names: [Int] = [] }

  /// A loop that goes by a clock of the test's own, and a queue on it.
  private struct Bench {
    let clock = ManualClock()
    let loop: EventLoop
    let queue: DeadlineQueue<Guest>
    let diary = Diary()

    init() throws {
      loop = try EventLoop(index: 0, clock: clock)
      queue = DeadlineQueue(loop: loop)
    }

    func guest(_ name: Int, in seconds: Int? = nil) -> Guest {
      let guest = Guest(name, diary)
      if let seconds { set(guest, in: seconds) }
      return guest
    }

    func set(_ guest: Guest, in seconds: Int) {
      queue.set(guest, due: loop.now.advanced(by: .seconds(seconds)))
    }

    /// Lets time pass, and the loop turn until it has seen that.
    func pass(_ duration: Duration) {
      nonisolated(unsafe) var isThrough = false
      clock.advance(by: duration)
      loop.run { isThrough = true }
      wait(loop) { isThrough }
      // What became due within the callbacks comes a turn later.
      loop.run { isThrough = false }
      wait(loop) { !isThrough }
    }
  }

  @Test("tells in the order of the times, at none before its own")
  func order() throws {
    let bench = try Bench()
    let guests = [5, 1, 4, 2, 3].map { bench.guest($0, in: $0) }
    #expect(bench.queue.count == 5)
    bench.pass(.milliseconds(999))
    #expect(bench.diary.names == [])
    bench.pass(.milliseconds(1))
    #expect(bench.diary.names == [1])
    bench.pass(.seconds(3))
    #expect(bench.diary.names == [1, 2, 3, 4])
    #expect(bench.queue.due(of: guests[0]) == bench.loop.now.advanced(by: .seconds(1)))
    #expect(bench.queue.due(of: guests[1]) == nil)
  }

  @Test("set again, earlier or later, it goes by the last setting; removed, not at all")
  func moves() throws {
    let bench = try Bench()
    let guests = (0..<4).map { bench.guest($0, in: 10 + $0) }
    bench.set(guests[3], in: 1)
    bench.set(guests[0], in: 20)
    bench.queue.remove(guests[1])
    bench.queue.remove(guests[1])
    bench.pass(.seconds(19))
    #expect(bench.diary.names == [3, 2])
    bench.set(guests[1], in: 1)
    bench.pass(.seconds(1))
    #expect(bench.diary.names.sorted() == [0, 1, 2, 3])
    #expect(bench.queue.count == 0)
  }

  @Test("whoever is told may set itself and others, and remove others that are due")
  func changesWithin() throws {
    let bench = try Bench()
    let (first, second, third) = (bench.guest(1, in: 1), bench.guest(2, in: 2), bench.guest(3, in: 3))
    first.onDeadline = {
      first.onDeadline = nil
      bench.queue.remove(second)
      bench.set(first, in: 5)
      bench.set(third, in: 7)
    }
    bench.pass(.seconds(4))
    #expect(bench.diary.names == [1])
    bench.pass(.seconds(5))
    #expect(bench.diary.names == [1, 1])
    bench.pass(.seconds(2))
    #expect(bench.diary.names == [1, 1, 3])
  }

  @Test("what is set for now while others are told comes in a later turn")
  func setForNow() throws {
    let bench = try Bench()
    let guest = bench.guest(1, in: 1)
    nonisolated(unsafe) var turns = 0
    guest.onDeadline = {
      turns += 1
      if turns < 3 { bench.set(guest, in: 0) }
    }
    bench.clock.advance(by: .seconds(1))
    wait(bench.loop) { turns == 1 }
    #expect(bench.queue.count == 1)
    bench.pass(.milliseconds(1))
    bench.pass(.milliseconds(1))
    #expect(bench.diary.names == [1, 1, 1])
  }

  @Test("a thousand, moved about, are told in the order of the times; those that were removed are let go of")
  func many() throws {
    let bench = try Bench()
    let start = bench.loop.now
    var state: UInt64 = 88_172_645_463_325_252
    func random(_ limit: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(limit))
    }
    var guests = (0..<1000).map { bench.guest($0, in: 1 + random(500)) }
    for _ in 0..<3000 { bench.set(guests[random(1000)], in: 1 + random(500)) }
    weak let removed = guests[999]
    for guest in guests[500...] { bench.queue.remove(guest) }
    guests.removeLast(500)
    #expect(removed == nil)
    let others = DeadlineQueue<Guest>(loop: bench.loop)
    let other = Guest(-1, bench.diary)
    others.set(other, due: start)
    others.removeAll()
    #expect(others.count == 0 && !other.deadlinePlace.isTaken)
    let expected = guests.map { bench.queue.due(of: $0) ?? start }.sorted()
    let dues = Dictionary(uniqueKeysWithValues: guests.map { ($0.name, bench.queue.due(of: $0) ?? start) })
    bench.pass(.seconds(1000))
    #expect(bench.diary.names.compactMap { dues[$0] } == expected)
    #expect(bench.queue.count == 0)
  }

  @Test("by the system's clock a deadline is told once, not early")
  func systemClock() throws {
    let clock = SystemClock()
    let loop = try EventLoop(index: 0, clock: clock)
    let queue = DeadlineQueue<Guest>(loop: loop)
    let diary = Diary()
    let (late, early) = (Guest(2, diary), Guest(1, diary))
    let start = clock.now()
    queue.set(late, due: start.advanced(by: .milliseconds(12)))
    queue.set(early, due: start.advanced(by: .milliseconds(6)))
    wait(loop) { diary.names.count == 2 }
    #expect(diary.names == [1, 2])
    #expect(clock.now() - start >= .milliseconds(12))
  }
}
