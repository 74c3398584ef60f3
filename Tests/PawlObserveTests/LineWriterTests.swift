import PawlBase
import Testing

@testable import PawlObserve

@Suite("Line writer") struct LineWriterTests {
  /// A destination that holds the writer's thread until it is let go.
  final class Gate: Sendable {
    private let isOpen = Locked(false)
    private let received = Locked<[UInt8]>([])
    private let entered = Locked(0)

    var bytes: [UInt8] { received.withLock { $0 } }
    var entries: Int { entered.withLock { $0 } }
    func open() { isOpen.withLock { $0 = true } }

    func receive(_ bytes: [UInt8]) {
      entered.withLock { $0 += 1 }
      while !isOpen.withLock({ $0 }) {}
      received.withLock { $0.append(contentsOf: bytes) }
    }
  }

  private static func line(_ text: String) -> (inout [UInt8]) -> Void {
    { $0.append(contentsOf: Array((text + "\n").utf8)) }
  }

  @Test("drops what finds no room, whole lines only, and counts them")
  func bounded() throws {
    let gate = Gate()
    let writer = try LineWriter(.closure { gate.receive($0) }, capacity: 10, batch: 1, lingerMilliseconds: 0)
    writer.write(Self.line("first"))
    while gate.entries == 0 {}
    // The thread is busy: these wait, and the queue holds ten bytes.
    for text in ["1234", "5678", "x", "too long for what is left"] { writer.write(Self.line(text)) }
    gate.open()
    writer.flush()
    #expect(gate.bytes == Array("first\n1234\n5678\n".utf8))
    #expect(writer.takeDropped() == 2)
    #expect(writer.takeDropped() == 0)
    writer.write(Self.line("last"))
    writer.close()
    #expect(gate.bytes == Array("first\n1234\n5678\nlast\n".utf8))
  }

  @Test("does not take a line that is larger than the queue")
  func oversized() throws {
    let received = Locked<[UInt8]>([])
    let writer = try LineWriter(
      .closure { bytes in received.withLock { $0 += bytes } }, capacity: 10, batch: 1, lingerMilliseconds: 0)
    writer.write(Self.line("0123456789"))
    writer.write(Self.line("012345678"))
    writer.flush()
    #expect(received.withLock { $0 } == Array("012345678\n".utf8))
    #expect(writer.takeDropped() == 1)
    writer.close()
  }

  @Test("writes what is queued when it closes, without waiting for company, and nothing after")
  func closes() throws {
    let received = Locked<[UInt8]>([])
    let writer = try LineWriter(
      .closure { bytes in received.withLock { $0 += bytes } }, capacity: 1 << 20, batch: 1 << 20,
      lingerMilliseconds: 3_600_000)
    for number in 0..<100 { writer.write(Self.line("\(number)")) }
    writer.close()
    #expect(received.withLock { $0 } == (0..<100).flatMap { Array("\($0)\n".utf8) })
    writer.write(Self.line("late"))
    writer.flush()
    #expect(writer.takeDropped() == 1)
    #expect(received.withLock { $0.count } == 290)
  }

  @Test("flushes at once although lines may wait for an hour")
  func flushes() throws {
    let received = Locked<[UInt8]>([])
    let writer = try LineWriter(
      .closure { bytes in received.withLock { $0 += bytes } }, capacity: 1 << 20, batch: 1 << 20,
      lingerMilliseconds: 3_600_000)
    for round in 1...20 {
      writer.write(Self.line("x"))
      writer.flush()
      #expect(received.withLock { $0.count } == 2 * round)
    }
    writer.close()
  }

  @Test("keeps the lines of many threads whole and loses none")
  func threads() async throws {
    let received = Locked<[UInt8]>([])
    let writer = try LineWriter(
      .closure { bytes in received.withLock { $0 += bytes } }, capacity: 1 << 20, batch: 4096, lingerMilliseconds: 1)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask { for number in 0..<1000 { writer.write(Self.line("\(task)-\(number)")) } }
      }
    }
    writer.close()
    let lines = received.withLock { $0 }.split(separator: 0x0a).map { String(decoding: $0, as: UTF8.self) }
    #expect(lines.count == 8000)
    #expect(Set(lines) == Set((0..<8).flatMap { task in (0..<1000).map { "\(task)-\($0)" } }))
  }

  @Test("at the end of the program nobody waits for ever for who reads the lines")
  func lastLines() throws {
    let gate = Gate()
    let writer = try LineWriter(.closure { gate.receive($0) }, capacity: 10, batch: 1, lingerMilliseconds: 0)
    writer.write(Self.line("first"))
    while gate.entries == 0 {}
    writer.flush(atMost: .milliseconds(1))
    #expect(gate.bytes == [])
    gate.open()
    writer.flush()
    #expect(gate.bytes == Array("first\n".utf8))
    writer.close()
  }

  @Test("says when lines begin to be lost, once")
  func trouble() throws {
    let told = Locked<[String]>([])
    let writer = try LineWriter(.file(path: "/dev/full"), capacity: 100, batch: 1, lingerMilliseconds: 0) { why in
      told.withLock { $0.append(why) }
    }
    for text in ["first", "second"] {
      writer.write(Self.line(text))
      writer.flush()
    }
    writer.close()
    #expect(told.withLock { $0 } == ["cannot write: No space left on device"])
  }
}
