import PawlLoop
import PawlObserve
import Testing

@testable import PawlServer

@Suite("Connection list") struct ConnectionListTests {
  private final class Member: ServedConnection {
    let stream: SocketStream
    var place = ConnectionPlace()
    var life: (began: LoopCounter, ended: LoopCounter) { (.http1Began, .http1Ended) }
    init(_ loop: EventLoop) { stream = SocketStream(adopting: -1, loop: loop) }
    func drain() {}
    func abandonAll(_ end: BodyEnd) {}
  }

  @Test("who is added is in it until removed, whatever the order; who is not in it cannot be removed")
  func addsAndRemoves() throws {
    let loop = try EventLoop(index: 0)
    var list = ConnectionList()
    let members = (0..<5).map { _ in Member(loop) }
    for member in members { list.add(member) }
    for index in [2, 0, 4] {
      let outcomes = [list.remove(members[index]), list.remove(members[index])]
      #expect(outcomes == [true, false])
    }
    #expect(list.count == 2)
    #expect(Set(list.all.map(ObjectIdentifier.init)) == [ObjectIdentifier(members[1]), ObjectIdentifier(members[3])])
    list.add(members[2])
    let outcomes = [1, 3, 2].map { list.remove(members[$0]) }
    #expect(outcomes == [true, true, true] && list.isEmpty)
    list.add(members[0])
    list.removeAll()
    let isThere = list.remove(members[0])
    #expect(list.isEmpty && !isThere)
  }
}
