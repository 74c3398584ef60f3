import PawlCache
import PawlHTTP
import Testing

@Suite("Where an answer comes from") struct AnswerPlanTests {
  /// What is stored for the request: how fresh, and how much of it is here.
  enum Kept: Sendable { case nothing, fresh, stale, revalidating, weak, plain, missing }
  enum Here: Sendable { case whole, filling, lengthless, resumable, lost }

  struct Row: Sendable, CustomTestStringConvertible {
    var kept: Kept
    var here = Here.whole
    var request: [String] = []
    var method = PawlHTTP.Method.get
    var named = AnswerPlan.Named.nothing
    var isShared = false
    var mayJoin = false
    var plan: AnswerPlan
    var testDescription: String { "\(kept), \(here), \(method) \(request)" }
  }

  private static func head(_ kept: Kept) -> StoredHead? {
    switch kept {
    case .nothing: nil
    case .fresh: Messages.stored(["Cache-Control: max-age=10", "ETag: \"a\""])
    case .stale: Messages.stored(["Cache-Control: max-age=10", "ETag: \"a\""], age: 20)
    case .revalidating:
      Messages.stored(["Cache-Control: max-age=10, stale-while-revalidate=60", "ETag: \"a\""], age: 20)
    case .weak: Messages.stored(["Cache-Control: max-age=10", "ETag: W/\"a\""], age: 20)
    case .plain: Messages.stored(["Cache-Control: max-age=10"], age: 20)
    case .missing: Messages.stored(["Cache-Control: max-age=10", "ETag: \"a\""], status: 404, age: 20)
    }
  }

  private static func stored(_ row: Row) -> AnswerPlan.Stored? {
    guard let head = head(row.kept) else { return nil }
    func make(_ hasTotal: Bool, _ missing: AnswerPlan.Stored.Missing, _ isFilling: Bool) -> AnswerPlan.Stored {
      AnswerPlan.Stored(
        head, asked: Messages.fields(row.request), policy: CachePolicy(), now: Messages.now, hasTotal: hasTotal,
        missing: missing, isFilling: isFilling)
    }
    return switch row.here {
    case .whole: make(true, .nothing, false)
    case .filling: make(true, .obtainable, true)
    case .lengthless: make(false, .obtainable, true)
    case .resumable: make(true, .obtainable, false)
    case .lost: make(true, .lost, false)
    }
  }

  private static let cacheOnly = "Cache-Control: only-if-cached"

  @Test(
    "is one decision of the request, what is stored and the settings",
    arguments: [
      // What only the origin can judge.
      Row(kept: .fresh, request: ["If-Match: \"a\""], plan: .forward(.request)),
      Row(kept: .nothing, request: ["If-Unmodified-Since: x"], plan: .forward(.request)),
      Row(kept: .fresh, request: ["If-Match: \"a\"", cacheOnly], plan: .onlyIfCached),
      Row(kept: .nothing, request: [cacheOnly], method: .head, plan: .onlyIfCached),
      Row(kept: .stale, request: [cacheOnly], method: .head, plan: .onlyIfCached),
      Row(kept: .fresh, request: [cacheOnly], method: .head, plan: .stored),
      Row(kept: .stale, request: [cacheOnly], named: .opened, plan: .opened),
      Row(kept: .stale, request: [cacheOnly], named: .ofOthers, plan: .onlyIfCached),
      Row(kept: .stale, request: [cacheOnly], named: .awaitsProof, plan: .onlyIfCached),
      // What the client's tag names goes before all else.
      Row(kept: .stale, named: .opened, plan: .opened),
      Row(kept: .nothing, named: .ofOthers, plan: .prove),
      Row(kept: .fresh, named: .ofOthers, plan: .prove),
      Row(kept: .fresh, named: .awaitsProof, plan: .awaitProof),
      Row(kept: .nothing, request: [cacheOnly], named: .opened, plan: .opened),
      // HEAD is never worth a fetch.
      Row(kept: .fresh, method: .head, plan: .stored), Row(kept: .nothing, method: .head, plan: .forward(.uriMiss)),
      Row(kept: .stale, method: .head, plan: .forward(.stale)),
      Row(kept: .fresh, here: .lengthless, method: .head, plan: .forward(.stale)),
      Row(kept: .fresh, here: .lost, method: .head, plan: .stored),
      // Nothing is stored.
      Row(kept: .nothing, plan: .fetch(.miss)), Row(kept: .nothing, mayJoin: true, plan: .join),
      Row(kept: .nothing, request: [cacheOnly], mayJoin: true, plan: .onlyIfCached),
      // Fresh.
      Row(kept: .fresh, plan: .stored), Row(kept: .fresh, here: .filling, plan: .stored),
      Row(kept: .fresh, here: .resumable, plan: .stored), Row(kept: .fresh, request: [cacheOnly], plan: .stored),
      Row(kept: .fresh, here: .lost, plan: .fetch(.refetch)),
      Row(kept: .fresh, here: .lost, request: [cacheOnly], plan: .onlyIfCached),
      Row(kept: .fresh, here: .lengthless, mayJoin: true, plan: .stored),
      Row(kept: .fresh, request: ["Cache-Control: no-cache"], plan: .fetch(.validate)),
      Row(kept: .fresh, request: ["Pragma: no-cache"], mayJoin: true, plan: .join),
      Row(kept: .fresh, here: .filling, request: ["Cache-Control: max-age=0"], isShared: true, plan: .stored),
      // Stale.
      Row(kept: .stale, plan: .fetch(.validate)), Row(kept: .stale, mayJoin: true, plan: .join),
      Row(kept: .stale, request: ["Cache-Control: max-stale"], plan: .stored),
      Row(kept: .stale, request: ["Cache-Control: max-stale=9"], plan: .fetch(.validate)),
      Row(kept: .stale, here: .filling, isShared: true, plan: .stored),
      Row(kept: .stale, here: .filling, plan: .fetch(.validate)),
      Row(kept: .stale, here: .resumable, isShared: true, plan: .fetch(.validate)),
      Row(kept: .stale, here: .lost, plan: .fetch(.refetch)),
      Row(kept: .stale, request: [cacheOnly], mayJoin: true, plan: .onlyIfCached),
      Row(kept: .revalidating, plan: .storedWhileValidating),
      Row(kept: .revalidating, here: .resumable, plan: .fetch(.validate)),
      Row(kept: .weak, plan: .fetch(.validate)), Row(kept: .weak, here: .filling, plan: .fetch(.refetch)),
      Row(kept: .plain, plan: .fetch(.refetch)), Row(kept: .missing, plan: .fetch(.refetch)),
    ])
  func decides(_ row: Row) {
    let plan = AnswerPlan.decide(
      row.method, Messages.fields(row.request), stored: Self.stored(row), named: row.named, isShared: row.isShared,
      mayJoin: row.mayJoin)
    #expect(plan == row.plan)
  }

  @Test("a body without a length that nothing says may be heard by others is not joined in its middle")
  func late() {
    let policy = CachePolicy(defaultTTL: 60)
    func plan(_ lines: [String]) -> AnswerPlan {
      let stored = AnswerPlan.Stored(
        Messages.stored(lines), asked: Fields(), policy: policy, now: Messages.now, hasTotal: false,
        missing: .obtainable, isFilling: true)
      return AnswerPlan.decide(.get, Fields(), stored: stored)
    }
    #expect(plan([]) == .fetch(.refetch) && plan(["Cache-Control: max-age=60"]) == .stored)
  }

  @Test("requests that differ in what they accept get the same only where nothing chose the response")
  func alike() {
    let coded = Messages.request(["Accept-Encoding: identity"])
    let rows: [(head: StoredHead, pass: Bool, identity: Bool)] = [
      (Messages.stored([]), true, true),
      (Messages.stored(["Vary: *"]), false, false), (Messages.stored(["Vary: Accept-Language"]), false, false),
      (Messages.stored(["Vary: Accept-Encoding"], request: coded), false, true),
      (Messages.stored(["Vary: Accept-Encoding, Accept-Language"], request: coded), false, false),
    ]
    for (index, row) in rows.enumerated() {
      #expect(row.head.answersAlike(asksIdentity: false) == row.pass, "row \(index)")
      #expect(row.head.answersAlike(asksIdentity: true) == row.identity, "row \(index)")
    }
  }
}
