import PawlHTTP
import PawlLoop
import Testing

@testable import PawlUpstream

@Suite("The order of an upstream's nodes") struct NodeRotationTests {
  private let start = Monotonic(nanoseconds: 1_000_000_000_000)

  /// A rotation that can be asked within an expectation.
  private final class Subject {
    private var rotation: NodeRotation

    init(_ count: Int, change: (inout [UpstreamURL], inout NodeSettings) -> Void = { _, _ in }) {
      var urls = (0..<count).map { UpstreamURL(host: "node", port: UInt16(9000 + $0)) }
      var settings = NodeSettings()
      change(&urls, &settings)
      rotation = NodeRotation(urls, settings)
    }

    func order(at now: Monotonic, for target: String = "/", preferring url: Int? = nil) -> [Int] {
      rotation.order(at: now, for: Bytes(target), preferring: url)
    }
    /// What so many orders begin with.
    func firsts(_ count: Int, at now: Monotonic) -> [Int] { (0..<count).map { _ in order(at: now)[0] } }
    func begins(at node: Int) { rotation.begins(at: node) }
    func ended(at node: Int) { rotation.ended(at: node) }
    func mayStandIn(_ other: Int, for node: Int, at now: Monotonic) -> Bool {
      rotation.mayStandIn(other, for: node, at: now)
    }
    @discardableResult
    func failed(_ node: Int, at now: Monotonic) -> NodeRotation.Change? { rotation.failed(node, at: now) }
    @discardableResult
    func answered(
      _ node: Int, status: Int, to target: String = "/", since begun: Monotonic, at now: Monotonic
    ) -> NodeRotation.Change? { rotation.answered(node, status: status, to: Bytes(target), since: begun, at: now) }
    func erred(_ node: Int, for target: String, at now: Monotonic) -> NodeRotation.Change? {
      rotation.erred(node, for: Bytes(target), at: now)
    }
    @discardableResult
    func checked(_ node: Int, passed: Bool) -> NodeRotation.Change? { rotation.checked(node, passed: passed) }
    func states(at now: Monotonic) -> [NodeState] { rotation.states(at: now) }
  }

  @Test("goes round")
  func roundRobin() {
    let rotation = Subject(3)
    let orders = (0..<4).map { _ in rotation.order(at: start) }
    #expect(orders == [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]])
  }

  @Test("goes by weights, evenly spread: a a b a c a a")
  func weights() {
    let rotation = Subject(3) { urls, _ in urls[0].weight = 5 }
    #expect(rotation.firsts(7, at: start) == [0, 0, 1, 0, 2, 0, 0])
  }

  @Test("one node is always tried")
  func single() {
    let rotation = Subject(1)
    #expect(rotation.failed(0, at: start) == .down)
    #expect(rotation.order(at: start) == [0])
  }

  @Test("the operator is told of a failure until the node answers again, also when its rest is over")
  func told() {
    let (single, several) = (Subject(1), Subject(2))
    #expect(single.states(at: start) == [.works])
    for rotation in [single, several] { rotation.failed(0, at: start) }
    #expect(single.states(at: start) == [.failed])
    #expect(several.states(at: start) == [.rests, .works])
    let later = start.advanced(by: .seconds(3600))
    #expect(single.states(at: later) == [.failed])
    #expect(several.states(at: later) == [.failed, .works])
    #expect(
      single.answered(0, status: 200, since: start.advanced(by: .seconds(-1)), at: later) == nil, "an old request")
    #expect(single.answered(0, status: 503, since: later, at: later) == .up)
    #expect(single.states(at: later) == [.works])
    single.checked(0, passed: false)
    for _ in 0..<10 { single.checked(0, passed: false) }
    #expect(single.states(at: later) == [.failsChecks])
  }

  @Test("a single node that answers with errors has not failed, however many there are")
  func singleErrors() {
    let rotation = Subject(1) { _, settings in settings.restAfterErrors = 1 }
    for path in ["/a", "/b", "/c"] {
      #expect(rotation.answered(0, status: 502, to: path, since: start, at: start) == nil)
    }
    rotation.failed(0, at: start)
    #expect(rotation.answered(0, status: 502, to: "/d", since: start, at: start) == .up)
  }

  @Test("leaves out what refused, for a while that grows, and keeps it as the last resort")
  func skipping() {
    let rotation = Subject(2)
    rotation.failed(0, at: start)
    #expect(rotation.order(at: start) == [1, 0])
    #expect(rotation.order(at: start) == [1, 0])
    let second = start.advanced(by: .seconds(1))
    #expect(Set(rotation.firsts(2, at: second)) == [0, 1])
    rotation.failed(0, at: second)
    #expect(rotation.order(at: second.advanced(by: .milliseconds(1999))) == [1, 0])
    #expect(Set(rotation.firsts(2, at: second.advanced(by: .seconds(2)))) == [0, 1])
  }

  @Test("after a rest one request finds out, and the others wait for its answer as long as the rest was")
  func tried() {
    let rotation = Subject(2)
    rotation.failed(0, at: start)
    let again = start.advanced(by: .seconds(5))
    #expect(rotation.firsts(6, at: again).filter { $0 == 0 } == [0])
    #expect(rotation.firsts(6, at: again.advanced(by: .milliseconds(999))) == Array(repeating: 1, count: 6))
    let second = again.advanced(by: .seconds(1))
    #expect(rotation.firsts(6, at: second).filter { $0 == 0 } == [0])
    #expect(rotation.failed(0, at: second.advanced(by: .milliseconds(500))) == nil)
    #expect(rotation.firsts(6, at: second.advanced(by: .milliseconds(2499))) == Array(repeating: 1, count: 6))
    let third = second.advanced(by: .milliseconds(2500))
    #expect(rotation.firsts(6, at: third).filter { $0 == 0 } == [0])
    #expect(rotation.answered(0, status: 503, since: third, at: third) == .up)
    #expect(rotation.firsts(6, at: third).filter { $0 == 0 }.count == 3)
  }

  @Test("a burst of refusals counts once")
  func burst() {
    let rotation = Subject(2)
    let changes = (0..<10).map { _ in rotation.failed(0, at: start) }
    #expect(changes == [.down] + Array(repeating: nil, count: 9))
    #expect(Set(rotation.firsts(2, at: start.advanced(by: .seconds(1)))) == [0, 1])
  }

  @Test("an answer to what was asked since clears the record, an older one does not")
  func recovery() {
    let rotation = Subject(2)
    rotation.failed(0, at: start)
    let before = start.advanced(by: .milliseconds(-1))
    #expect(rotation.answered(0, status: 200, since: before, at: start) == nil)
    #expect(rotation.order(at: start) == [1, 0])
    #expect(rotation.answered(0, status: 404, since: start, at: start) == .up)
    #expect(Set(rotation.firsts(2, at: start)) == [0, 1])
  }

  @Test("when none works, the one that may work soonest comes first")
  func allSkipped() {
    let rotation = Subject(2)
    rotation.failed(1, at: start)
    rotation.failed(0, at: start.advanced(by: .milliseconds(500)))
    #expect(rotation.order(at: start.advanced(by: .milliseconds(600))) == [1, 0])
  }

  @Test("one that is preferred stands in front while it works, and the turn of the others stays")
  func preferred() {
    let rotation = Subject(3)
    #expect(rotation.order(at: start, preferring: 2) == [2, 0, 1])
    #expect(rotation.order(at: start) == [0, 1, 2])
    rotation.failed(2, at: start)
    #expect(rotation.order(at: start, preferring: 2) == [1, 0, 2])
    #expect(rotation.order(at: start, preferring: 7) == [1, 0, 2])
  }

  @Test("a backup is behind all that work, and in front of all that rest")
  func backups() {
    let rotation = Subject(3) { urls, _ in urls[1].isBackup = true }
    #expect(rotation.order(at: start) == [0, 2, 1])
    #expect(rotation.order(at: start) == [2, 0, 1])
    rotation.failed(0, at: start)
    #expect(rotation.order(at: start) == [2, 1, 0])
    rotation.failed(2, at: start.advanced(by: .milliseconds(1)))
    #expect(rotation.order(at: start.advanced(by: .milliseconds(2))) == [1, 0, 2])
    #expect(!rotation.mayStandIn(1, for: 0, at: start.advanced(by: .seconds(9))))
    #expect(rotation.mayStandIn(2, for: 0, at: start.advanced(by: .seconds(9))))
  }

  @Test("errors in a row over several paths rest a node, those of one path or with a success between do not")
  func streaks() {
    func outcome(_ answers: [(status: Int, target: String)], limit: Int = 3) -> [Int] {
      let rotation = Subject(2) { $1.restAfterErrors = limit }
      for answer in answers {
        rotation.answered(0, status: answer.status, to: answer.target, since: start, at: start)
      }
      return rotation.order(at: start)
    }
    let rests = [1, 0], works = [0, 1]
    #expect(outcome([(500, "/a"), (502, "/a"), (503, "/b")]) == rests)
    #expect(outcome([(500, "/a"), (500, "/b")]) == works)
    #expect(outcome([(500, "/a?1"), (500, "/a?2"), (504, "/a"), (504, "/a")]) == works)
    #expect(outcome([(500, "/a"), (500, "/b"), (200, "/c"), (500, "/d")]) == works)
    #expect(outcome([(501, "/a"), (505, "/b"), (501, "/c")]) == works)
    #expect(outcome([(500, "/a"), (500, "/b"), (500, "/c")], limit: 0) == works)
  }

  @Test("the last one that works does not rest for its errors")
  func last() {
    let rotation = Subject(2) { $1.restAfterErrors = 2 }
    rotation.failed(1, at: start)
    #expect((0..<5).allSatisfy { rotation.erred(0, for: "/\($0)", at: start) == nil })
    #expect(rotation.order(at: start) == [0, 1])
  }

  @Test("checks that fail rest a node until they pass; when all fail, it goes round")
  func checks() {
    let rotation = Subject(2)
    #expect(rotation.checked(0, passed: false) == nil)
    #expect(rotation.checked(0, passed: false) == .down)
    #expect(rotation.order(at: start) == [1, 0])
    #expect(rotation.checked(0, passed: true) == nil)
    #expect(rotation.order(at: start) == [1, 0])
    #expect(rotation.checked(0, passed: true) == .up)
    for node in [0, 1, 0, 1] { rotation.checked(node, passed: false) }
    #expect(Set(rotation.firsts(2, at: start)) == [0, 1])
  }

  @Test("least connections: the one with the fewest for its weight; among equals it goes round")
  func leastConnections() {
    let rotation = Subject(3) { urls, settings in
      settings.balance = .leastConnections
      urls[2].weight = 2
    }
    var asked: [Int] = []
    for _ in 0..<8 {
      asked.append(rotation.order(at: start)[0])
      rotation.begins(at: asked[asked.count - 1])
    }
    #expect((0..<3).map { node in asked.count { $0 == node } } == [2, 2, 4])
    rotation.ended(at: 1)
    rotation.ended(at: 1)
    #expect(rotation.order(at: start) == [1, 0, 2])
  }

  @Test("hash: a target has one node, and goes back to it after a rest; no idle connection draws it elsewhere")
  func hash() {
    let rotation = Subject(3) { $1.balance = .hash }
    let orders = (0..<50).map { rotation.order(at: start, for: "/\($0)") }
    #expect((0..<50).map { rotation.order(at: start, for: "/\($0)") } == orders)
    rotation.failed(0, at: start)
    let without = (0..<50).map { rotation.order(at: start, for: "/\($0)") }
    #expect(without == orders.map { $0.filter { $0 != 0 } + [0] })
    #expect(!rotation.mayStandIn(1, for: 2, at: start))
  }

  @Test("nodes that stay keep their health under other settings; a rest by checks ends with the checks")
  func adopted() {
    func urls(_ ports: UInt16...) -> [UpstreamURL] { ports.map { UpstreamURL(host: "node", port: $0) } }
    var checked = NodeSettings()
    (checked.checkFall, checked.maxRest) = (1, .seconds(60))
    checked.check = NodeCheckSettings(path: [], interval: .seconds(1), timeout: .seconds(1), statuses: [])
    var old = NodeRotation(urls(1, 2, 3), checked)
    #expect(old.failed(1, at: start) == .down)
    #expect(old.checked(2, passed: false) == .down)
    var same = NodeRotation(urls(3, 2, 4), checked)
    same.adopt(old)
    #expect(same.order(at: start) == [2, 0, 1])
    var unchecked = NodeRotation(urls(3, 2, 4))
    unchecked.adopt(old)
    #expect(unchecked.order(at: start) == [0, 2, 1])
    var secure = urls(2, 5)
    secure[0].serverName = "a.example"
    var other = NodeRotation(secure)
    other.adopt(old)
    #expect(other.order(at: start) == [0, 1])
  }
}
