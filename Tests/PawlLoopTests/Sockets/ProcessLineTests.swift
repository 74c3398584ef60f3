import CLinux
import Testing

@testable import PawlLoop

@Suite("Messages between two processes", .timeLimit(.minutes(1))) struct ProcessLineTests {
  private final class End {
    var messages: [[UInt8]] = []
    var endCount = 0
  }

  private func line(_ descriptor: CInt, _ loop: EventLoop, _ end: End) -> ProcessLine {
    let line = ProcessLine(
      descriptor, on: loop, received: { end.messages.append($0) }, ended: { end.endCount += 1 })
    line.start()
    return line
  }

  private func send(_ bytes: [UInt8], to descriptor: CInt) {
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
  }

  @Test("arrive whole and in order, also long ones, both ways")
  func arrive() throws {
    let (pair, loop) = (try socketPair(), try EventLoop(index: 0))
    let (one, two) = (End(), End())
    let (left, right) = (line(pair.0, loop, one), line(pair.1, loop, two))
    let long = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    for message in [[1], [], long, [2, 3]] { left.send(message) }
    right.send(long)
    wait(loop) { two.messages.count == 4 && one.messages.count == 1 }
    #expect(two.messages == [[1], [], long, [2, 3]] && one.messages == [long])
    left.close()
    wait(loop) { two.endCount == 1 }
    right.send([1])
    #expect(one.endCount == 0 && two.messages.count == 4)
  }

  @Test("may come in pieces of any size")
  func pieces() throws {
    let (pair, loop) = (try socketPair(), try EventLoop(index: 0))
    let end = End()
    let left = line(pair.0, loop, end)
    let bytes = ProcessLine.header(2) + [1, 2] + ProcessLine.header(0) + ProcessLine.header(1) + [3]
    for (index, byte) in bytes.enumerated() {
      send([byte], to: pair.1)
      let due = index < 9 ? 0 : index < 17 ? 1 : index < 26 ? 2 : 3
      if end.messages.count < due { wait(loop) { end.messages.count == due } }
      #expect(end.messages.count == due)
    }
    #expect(end.messages == [[1, 2], [], [3]])
    // What came before the end still counts; half a message does not.
    send(ProcessLine.header(1) + [4] + ProcessLine.header(2) + [5], to: pair.1)
    close(pair.1)
    wait(loop) { end.endCount == 1 }
    #expect(end.messages.last == [4])
    left.close()
  }

  @Test("of the largest length are waited for, longer ones end the line", arguments: [0, 1])
  func limit(_ excess: Int) throws {
    let (pair, loop) = (try socketPair(), try EventLoop(index: 0))
    let end = End()
    let left = line(pair.0, loop, end)
    send(ProcessLine.header(1) + [9] + ProcessLine.header(ProcessLine.largest + excess), to: pair.1)
    wait(loop) { end.messages.count == 1 && end.endCount == excess }
    #expect(isHungUp(pair.1) == (excess == 1))
    left.close()
    close(pair.1)
    #expect(ProcessLine.count([UInt8](repeating: 0xff, count: 8)) == nil && ProcessLine.count([0]) == nil)
  }
}
