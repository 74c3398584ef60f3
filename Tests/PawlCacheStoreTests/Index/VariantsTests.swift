import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import Testing

@testable import PawlCacheStore

@Suite("The variants of a resource") struct VariantsTests {
  private let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  private func request(_ agent: String) -> RequestHead {
    var request = RequestHead(method: .get, target: Bytes("/"))
    request.fields.append(.userAgent, agent)
    return request
  }

  private func response(_ agent: String, vary: String = "User-Agent") throws -> StoredResponse {
    var answer = ResponseHead(status: 200)
    answer.fields.append(.vary, vary)
    answer.fields.append(.cacheControl, "max-age=60")
    let head = StoredHead(
      request: request(agent), response: answer, requestTime: 1_700_000_000, responseTime: 1_700_000_000,
      asksIdentity: false)
    return StoredResponse(head: head, body: try fixture.body(total: 0), storedAt: 5)
  }

  private func found(_ variants: Variants, _ agent: String) -> [StoredResponse] {
    let request = request(agent)
    let values: (VariantSelector) -> [UInt8] = { $0.values(of: request, asksIdentity: false) { request.fields } }
    let isSelected: (StoredResponse) -> Bool = { stored in
      stored.head.isSelected(by: request, asksIdentity: false) { request.fields }
    }
    let all = variants.allSelected(by: values, where: isSelected)
    #expect(variants.selected(by: values, where: isSelected) === all.first)
    return all
  }

  @Test("few or many: each is found by its values, the newest of equals first", arguments: [2, Variants.scanLimit, 50])
  func finds(_ count: Int) throws {
    var variants = Variants()
    var made: [StoredResponse] = []
    for number in 0..<count {
      made.append(try response("a\(number)"))
      #expect(variants.insert(made[number]).isEmpty)
    }
    for number in 0..<count {
      #expect(found(variants, "a\(number)").map(\.id) == [made[number].id])
      #expect(variants.response(of: made[number].body) === made[number])
    }
    #expect(found(variants, "none").isEmpty && (variants.only == nil) && variants.count == count)
    let newer = try response("a0")
    #expect(variants.insert(newer).isEmpty)
    #expect(found(variants, "a0").map(\.id) == [newer.id, made[0].id])
    let other = made[1].with(head: try response("b").head)
    variants.replace(other)
    #expect(found(variants, "a1").isEmpty && found(variants, "b").map(\.id) == [made[1].id])
    for each in made { variants.remove(each.body) }
    #expect(variants.only === newer && found(variants, "a0").map(\.id) == [newer.id])
    variants.remove(newer.body)
    #expect(variants.isEmpty && found(variants, "a0").isEmpty)
  }

  @Test("the newest of a kind are found, few or many, and no more than were wanted", arguments: [3, 50, 100])
  func newest(_ count: Int) throws {
    var variants = Variants()
    var made: [StoredResponse] = []
    for number in 0..<count {
      made.append(try response("a\(number)"))
      #expect(variants.insert(made[number]).isEmpty)
    }
    #expect(variants.newest(2) { _ in true }.map(\.id) == made.suffix(2).reversed().map(\.id))
    #expect(variants.newest(2) { $0 !== made[count - 1] }.map(\.id) == made.dropLast().suffix(2).reversed().map(\.id))
    #expect(variants.newest(2) { $0 === made[count - 3] }.map(\.id) == [made[count - 3].id])
    #expect(variants.newest(.max) { _ in false }.isEmpty && variants.newest(0) { _ in true }.isEmpty)
    // Of thousands not all are looked at.
    #expect(variants.newest(.max) { _ in true }.count == min(count, Variants.lookedAt))
  }

  @Test("at the limit all are kept; of one more the longest unused goes")
  func limit() throws {
    var variants = Variants()
    let head = try response("x").head
    func one() throws -> StoredResponse {
      StoredResponse(head: head, body: fixture.plainBody(), storedAt: 5)
    }
    var made: [StoredResponse] = []
    for _ in 0..<Variants.limit {
      made.append(try one())
      let gone = variants.insert(made[made.count - 1])
      #expect(gone.isEmpty)
    }
    #expect(variants.count == Variants.limit)
    let order = Array(variants)
    _ = order[0].body.noteUse(at: 7)
    let first = variants.insert(try one())
    #expect(first.map(\.id) == [order[1].id] && variants.count == Variants.limit)
    // It was used once, and the hand has passed it.
    let later = try (0..<Variants.limit).flatMap { _ in variants.insert(try one()) }
    #expect(variants.count == Variants.limit && later.contains { $0 === order[0] })
  }

  @Test("of too many kinds of selection the one that nothing came to for the longest time goes, with all it has")
  func selectors() throws {
    var variants = Variants()
    for number in 0..<Variants.selectorLimit {
      for agent in ["a", "b"] {
        let gone = variants.insert(try response(agent, vary: "User-Agent, X-\(number)"))
        #expect(gone.isEmpty)
      }
    }
    let gone = variants.insert(try response("a"))
    #expect(gone.count == 2 && gone.allSatisfy { $0.head.vary.names.contains(Array("x-0".utf8)) })
    #expect(found(variants, "a").count == Variants.selectorLimit)
  }
}

extension StoreFixture {
  /// One without a file.
  fileprivate func plainBody() -> StoredBody {
    StoredBody(
      id: ObjectID.make(), number: store.core.takeNumber(), core: store.core,
      charge: DiskCharge(store.core.budget, bytes: 0), state: BodyState())
  }
}
