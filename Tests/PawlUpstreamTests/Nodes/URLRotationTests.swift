import PawlLoop
import Testing

@testable import PawlUpstream

@Suite("The order of an upstream's URLs") struct URLRotationTests {
  private let start = Monotonic(nanoseconds: 1_000_000_000_000)

  @Test("goes round")
  func roundRobin() {
    var rotation = URLRotation(count: 3)
    let orders = (0..<4).map { _ in rotation.order(at: start) }
    #expect(orders == [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]])
  }

  @Test("one URL is always tried")
  func single() {
    var rotation = URLRotation(count: 1)
    rotation.failed(0, at: start)
    #expect(rotation.order(at: start) == [0])
  }

  @Test("leaves out what refused, for a while that grows, and keeps it as the last resort")
  func skipping() {
    var rotation = URLRotation(count: 2)
    rotation.failed(0, at: start)
    #expect(rotation.order(at: start) == [1, 0])
    #expect(rotation.order(at: start) == [1, 0])
    let second = start.advanced(by: .seconds(1))
    #expect(Set([rotation.order(at: second), rotation.order(at: second)]) == [[0, 1], [1, 0]])
    rotation.failed(0, at: second)
    #expect(rotation.order(at: second.advanced(by: .milliseconds(1999))) == [1, 0])
    let third = second.advanced(by: .seconds(2))
    #expect(Set([rotation.order(at: third), rotation.order(at: third)]) == [[0, 1], [1, 0]])
  }

  @Test("a burst of refusals counts once")
  func burst() {
    var rotation = URLRotation(count: 2)
    for _ in 0..<10 { rotation.failed(0, at: start) }
    let second = start.advanced(by: .seconds(1))
    #expect(Set([rotation.order(at: second), rotation.order(at: second)]) == [[0, 1], [1, 0]])
  }

  @Test("a connection that comes about clears the record")
  func recovery() {
    var rotation = URLRotation(count: 2)
    rotation.failed(0, at: start)
    rotation.connected(0)
    #expect(rotation.order(at: start) == [0, 1])
  }

  @Test("when none works, the one that may work soonest comes first")
  func allSkipped() {
    var rotation = URLRotation(count: 2)
    rotation.failed(1, at: start)
    rotation.failed(0, at: start.advanced(by: .milliseconds(500)))
    #expect(rotation.order(at: start.advanced(by: .milliseconds(600))) == [1, 0])
  }

  @Test("pauses", arguments: [(0, 1), (1, 1), (2, 2), (3, 4), (6, 32), (7, 32), (1000, 32)])
  func pauses(_ failures: Int, _ seconds: Int) {
    #expect(URLRotation.pause(failures: failures) == .seconds(seconds))
  }

  @Test("one that is preferred stands in front while it works, and the turn of the others stays")
  func preferred() {
    var rotation = URLRotation(count: 3)
    let now = Monotonic(nanoseconds: 0)
    var order = rotation.order(at: now, preferring: 2)
    #expect(order == [2, 0, 1])
    order = rotation.order(at: now)
    #expect(order == [0, 1, 2])
    rotation.failed(2, at: now)
    order = rotation.order(at: now, preferring: 2)
    #expect(order == [1, 0, 2])
    order = rotation.order(at: now, preferring: 7)
    #expect(order == [0, 1, 2])
  }
}
