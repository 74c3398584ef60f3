import PawlUpstream
import Testing

@testable import PawlServer

@Suite("What waits to be delivered to one upstream") struct DeliveryPlacesTests {
  private let anna = Array("anna".utf8)
  private let bela = Array("bela".utf8)

  private func started(_ lines: inout DeliveryPlaces<String>, _ count: Int) -> [String] {
    (0..<count).compactMap { _ in
      let entry = lines.start { _ in true }
      lines.ended()
      return entry?.entry
    }
  }

  @Test("no more run than there are places", arguments: [1, 64])
  func places(_ limit: Int) {
    var lines = DeliveryPlaces<String>(limit: limit)
    for number in 0...limit { lines.append("\(number)", of: anna, isUrgent: true) }
    for number in 0..<limit { #expect(lines.start { _ in true }?.entry == "\(number)") }
    #expect(lines.start { _ in true } == nil && lines.running == limit)
    lines.ended()
    #expect(lines.start { _ in true }?.entry == "\(limit)")
    for _ in 0..<limit {
      #expect(!lines.isIdle)
      lines.ended()
    }
    #expect(lines.isIdle)
  }

  @Test("clients take turns, however many uploads each has", arguments: [true, false])
  func turns(_ isUrgent: Bool) {
    var lines = DeliveryPlaces<String>(limit: 1)
    for number in 0..<5 { lines.append("a\(number)", of: anna, isUrgent: isUrgent) }
    for number in 0..<2 { lines.append("b\(number)", of: bela, isUrgent: isUrgent) }
    #expect(started(&lines, 7) == ["a0", "b0", "a1", "b1", "a2", "a3", "a4"])
    // One that comes back has no better turn than the others.
    for number in 5..<7 { lines.append("a\(number)", of: anna, isUrgent: isUrgent) }
    lines.append("b2", of: bela, isUrgent: isUrgent)
    #expect(started(&lines, 3) == ["a5", "b2", "a6"])
  }

  @Test("every fourth place is for what nobody waits for, and none is kept free for it")
  func patience() {
    var lines = DeliveryPlaces<String>(limit: 1)
    for number in 0..<8 { lines.append("u\(number)", of: anna, isUrgent: true) }
    #expect(started(&lines, 2) == ["u0", "u1"])
    for number in 0..<3 { lines.append("p\(number)", of: anna, isUrgent: false) }
    #expect(started(&lines, 9) == ["u2", "u3", "u4", "p0", "u5", "u6", "u7", "p1", "p2"])
  }

  @Test("what waits no more takes neither a place nor a turn")
  func stale() {
    var lines = DeliveryPlaces<String>(limit: 1)
    for entry in ["x", "x", "a"] { lines.append(entry, of: anna, isUrgent: true) }
    for entry in ["x", "b"] { lines.append(entry, of: bela, isUrgent: false) }
    #expect(lines.start { $0 != "x" }?.entry == "a")
    lines.ended()
    #expect(lines.start { $0 != "x" }?.entry == "b")
    lines.ended()
    lines.append("x", of: bela, isUrgent: false)
    #expect(lines.start { $0 != "x" } == nil && lines.isIdle)
  }

  @Test("at the end what nobody waits for is forgotten")
  func drops() {
    var lines = DeliveryPlaces<String>(limit: 1)
    lines.append("p", of: anna, isUrgent: false)
    lines.append("u", of: anna, isUrgent: true)
    lines.dropPatient()
    #expect(started(&lines, 2) == ["u"])
  }

  @Test("many that wait are taken in their order, and nothing stays behind")
  func many() {
    var lines = DeliveryPlaces<String>(limit: 1)
    for number in 0..<5000 { lines.append("\(number)", of: anna, isUrgent: true) }
    #expect(started(&lines, 5000) == (0..<5000).map(String.init) && lines.isIdle)
  }

  private func begun(_ lines: inout DeliveryPlaces<String>) -> [String] {
    var entries: [String] = []
    while let (entry, _) = lines.start(where: { _ in true }) { entries.append(entry) }
    return entries
  }

  private let hung = PlaceHolder(client: 1, path: 1)
  private let other = PlaceHolder(client: 2, path: 2)

  @Test("a client has its share and not one more while others may come", arguments: [true, false])
  func clientShare(_ isUrgent: Bool) {
    var lines = DeliveryPlaces<String>(limit: 10, clientShare: 80, pathShare: 100)
    for number in 0..<12 { lines.append("a\(number)", of: anna, hung, isUrgent: isUrgent) }
    #expect(begun(&lines) == (0..<8).map { "a\($0)" })
    for number in 0..<3 { lines.append("b\(number)", of: bela, other, isUrgent: isUrgent) }
    #expect(begun(&lines) == ["b0", "b1"])
    lines.ended(other)
    #expect(begun(&lines) == ["b2"])
    // What is above the share waits in its order, whatever becomes free beside it.
    lines.ended(other)
    #expect(begun(&lines).isEmpty && !lines.isIdle)
    lines.ended(hung)
    #expect(begun(&lines) == ["a8"])
  }

  @Test("a path whose deliveries take long has its share, whoever's they are; one that is quick may have all")
  func pathShare() {
    var lines = DeliveryPlaces<String>(limit: 10, clientShare: 100, pathShare: 60)
    for number in 0..<5 {
      lines.append("a\(number)", of: anna, PlaceHolder(client: 1, path: 1), isUrgent: true)
      lines.append("b\(number)", of: bela, PlaceHolder(client: 2, path: 1), isUrgent: true)
    }
    #expect(begun(&lines) == ["a0", "b0", "a1", "b1", "a2", "b2"])
    lines.append("c", of: bela, other, isUrgent: true)
    #expect(begun(&lines) == ["c"])
    lines.ended(hung, isQuick: true)
    #expect(begun(&lines) == ["a3", "b3", "a4", "b4"])
  }

  @Test("what is back below its share takes turns with the others")
  func turnsAtShare() {
    var lines = DeliveryPlaces<String>(limit: 4, clientShare: 50, pathShare: 100)
    for number in 0..<6 { lines.append("a\(number)", of: anna, hung, isUrgent: true) }
    for number in 0..<6 { lines.append("b\(number)", of: bela, PlaceHolder(client: 0, path: 2), isUrgent: true) }
    var order = begun(&lines)
    #expect(Set(order) == ["a0", "a1", "b0", "b1"])
    for _ in 0..<4 {
      lines.ended(hung)
      order += begun(&lines)
    }
    #expect(order.filter { $0.hasPrefix("b") }.count >= 3 && order.contains("a2"), "\(order)")
  }

  @Test("what waits above a share is dropped with the rest, and keeps nothing busy when it waits no more")
  func staleAtShare() {
    var lines = DeliveryPlaces<String>(limit: 4, clientShare: 25, pathShare: 100)
    for entry in ["p", "q", "x"] { lines.append(entry, of: anna, hung, isUrgent: false) }
    #expect(begun(&lines) == ["p"])
    lines.ended(hung)
    #expect(lines.start { $0 != "x" }?.entry == "q" && lines.start { $0 != "x" } == nil)
    lines.ended(hung)
    #expect(lines.start { $0 != "x" } == nil && lines.isIdle)
    lines.append("r", of: anna, hung, isUrgent: false)
    lines.append("s", of: anna, hung, isUrgent: false)
    #expect(begun(&lines) == ["r"])
    lines.dropPatient()
    lines.ended(hung)
    #expect(lines.isIdle)
  }
}
