import PawlHTTP
import Testing

@Suite("Sets of field names") struct FieldNameSetTests {
  @Test("has a bit for every name")
  func room() { #expect(FieldName.allCases.allSatisfy { $0.rawValue < 128 }) }

  @Test("holds each name by itself", arguments: FieldName.allCases)
  func each(_ name: FieldName) {
    var set = FieldNameSet()
    set.insert(name)
    #expect(FieldName.allCases.filter(set.contains) == [name])
    set.remove(name)
    #expect(!FieldName.allCases.contains(where: set.contains))
  }

  @Test("keeps what is inserted twice, and the others when one is removed")
  func several() {
    var set: FieldNameSet = [.range, .te, .range]
    set.insert(.te)
    set.remove(.range)
    #expect(FieldName.allCases.filter(set.contains) == [.te])
  }

  @Test("is disjoint with what shares no name with it, and united with another holds the names of both")
  func two() {
    let some: FieldNameSet = [.range, .te]
    #expect(some.isDisjoint(with: [.via, .other]) && !some.isDisjoint(with: [.via, .te]))
    #expect(some.isDisjoint(with: []) && FieldNameSet().isDisjoint(with: some))
    #expect(FieldName.allCases.filter(some.union([.via, .te]).contains) == [.te, .via, .range])
  }
}
