import Testing

@testable import PawlServer

@Suite("What waits to be delivered to one upstream") struct DeliveryLinesTests {
  private let anna = Array("anna".utf8)
  private let bela = Array("bela".utf8)

  private func started(_ lines: inout DeliveryLines<String>, _ count: Int) -> [String] {
    (0..<count).compactMap { _ in
      let entry = lines.start { _ in true }
      lines.ended()
      return entry
    }
  }

  @Test("no more run than there are places", arguments: [1, 64])
  func places(_ limit: Int) {
    var lines = DeliveryLines<String>(limit: limit)
    for number in 0...limit { lines.append("\(number)", of: anna, isUrgent: true) }
    for number in 0..<limit { #expect(lines.start { _ in true } == "\(number)") }
    #expect(lines.start { _ in true } == nil && lines.running == limit)
    lines.ended()
    #expect(lines.start { _ in true } == "\(limit)")
    for _ in 0..<limit {
      #expect(!lines.isIdle)
      lines.ended()
    }
    #expect(lines.isIdle)
  }

  @Test("clients take turns, however many uploads each has", arguments: [true, false])
  func turns(_ isUrgent: Bool) {
    var lines = DeliveryLines<String>(limit: 1)
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
    var lines = DeliveryLines<String>(limit: 1)
    for number in 0..<8 { lines.append("u\(number)", of: anna, isUrgent: true) }
    #expect(started(&lines, 2) == ["u0", "u1"])
    for number in 0..<3 { lines.append("p\(number)", of: anna, isUrgent: false) }
    #expect(started(&lines, 9) == ["u2", "u3", "u4", "p0", "u5", "u6", "u7", "p1", "p2"])
  }

  @Test("what waits no more takes neither a place nor a turn")
  func stale() {
    var lines = DeliveryLines<String>(limit: 1)
    for entry in ["x", "x", "a"] { lines.append(entry, of: anna, isUrgent: true) }
    for entry in ["x", "b"] { lines.append(entry, of: bela, isUrgent: false) }
    #expect(lines.start { $0 != "x" } == "a")
    lines.ended()
    #expect(lines.start { $0 != "x" } == "b")
    lines.ended()
    lines.append("x", of: bela, isUrgent: false)
    #expect(lines.start { $0 != "x" } == nil && lines.isIdle)
  }

  @Test("at the end what nobody waits for is forgotten")
  func drops() {
    var lines = DeliveryLines<String>(limit: 1)
    lines.append("p", of: anna, isUrgent: false)
    lines.append("u", of: anna, isUrgent: true)
    lines.dropPatient()
    #expect(started(&lines, 2) == ["u"])
  }

  @Test("many that wait are taken in their order, and nothing stays behind")
  func many() {
    var lines = DeliveryLines<String>(limit: 1)
    for number in 0..<5000 { lines.append("\(number)", of: anna, isUrgent: true) }
    #expect(started(&lines, 5000) == (0..<5000).map(String.init) && lines.isIdle)
  }
}
