import Testing

@testable import PawlUpstream

@Suite("The line of requests that wait") struct RemovableQueueTests {
  private func waiter(_ ticket: UInt64) -> ConnectionLimit.Waiter {
    .init(ticket: ticket, pool: 0, use: .passThrough, prefersIdle: false)
  }

  @Test("keeps the order over many that come, leave and are served")
  func order() {
    var line = RemovableQueue()
    for ticket in UInt64(1)...1000 { line.append(waiter(ticket)) }
    let removed = (UInt64(1)...1000).filter { $0 % 3 != 0 && line.remove($0) }
    #expect(removed.count == 667)
    #expect(line.count == 333)
    var served: [UInt64] = []
    while let first = line.first {
      served.append(first.ticket)
      line.removeFirst()
    }
    #expect(served == (1...333).map { $0 * 3 })
    #expect(line.count == 0)
  }

  @Test("knows nobody who is not in it")
  func strangers() {
    var line = RemovableQueue()
    let fromEmpty = line.remove(1)
    line.append(waiter(5))
    let removed = [4, 6, 5, 5].map { line.remove($0) }
    #expect(!fromEmpty)
    #expect(removed == [false, false, true, false])
    #expect(line.first == nil)
  }
}
