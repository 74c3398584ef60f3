import PawlBase
import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlObserve

/// Compares a body that was fetched anew with the body that it replaces, byte by byte, in the pool, while the new body is filled. If the
/// bytes are equal, the new body takes the old body's tags. If only a part of the old body could be compared, the tags hold for that part.
/// If the bytes differ, the old body stays for its readers, and for `resume-ttl` if the origin gave no validator. Lives on the fill's loop.
final class TwinComparison: Sendable {
  private static let piece = 1 << 20

  private let old: StoredResponse
  private let new: StoredResponse
  private let store: CacheStore
  private let downloads: LoopBound<LoopDownloads>
  private let loop: EventLoop
  private let route: RouteSettings
  private var policy: CachePolicy { route.policy }
  private let progress = Locked((compared: UInt64(0), isDecided: false))
  private let waiters = Locked<[@Sendable () -> Void]?>([])

  private init(
    old: StoredResponse, new: StoredResponse, store: CacheStore, downloads: LoopDownloads, route: RouteSettings
  ) {
    (self.old, self.new, self.store, self.route) = (old, new, store, route)
    (self.downloads, loop) = (LoopBound(downloads, on: downloads.loop), downloads.loop)
  }

  static func start(
    old: StoredResponse, new: StoredResponse, store: CacheStore, downloads: LoopDownloads, route: RouteSettings
  ) {
    let twin = TwinComparison(old: old, new: new, store: store, downloads: downloads, route: route)
    FillCoordinator.compare(new, with: twin)
    // The comparison is a reader of the new body, too: a fill of unknown length runs only a limited number of bytes ahead of it.
    for body in [old.body, new.body] { body.readerMoved(token: twin.token, position: 0) }
    downloads.twins[twin.token] = twin
    // In the next turn, because the fill is only about to begin.
    downloads.loop.nextTurn { twin.step() }
  }

  private var token: ObjectIdentifier { ObjectIdentifier(self) }
  private var compared: UInt64 { progress.withLock { $0.compared } }
  private var isDecided: Bool { progress.withLock { $0.isDecided } }

  /// Whether this tag names the old body or a coded form of it. Then the outcome decides whether the tag names the new body.
  func concerns(_ tag: EntityTag) -> Bool {
    !tag.isWeak && (old.body.tagLimit(tag.opaque) != nil || old.body.form(namedBy: tag.opaque) != nil)
  }

  /// The largest length, in bytes, of a body that is compared before its answer is sent, so that the answer has the old tag.
  static let shortLimit: UInt64 = 64 << 10
  /// The longest time that an answer waits for such a comparison.
  static let shortPatience = Duration.milliseconds(100)

  /// Whether the outcome will be known soon: both bodies are short.
  var isShort: Bool {
    guard old.body.isComplete, let total = old.body.total else { return false }
    return total <= Self.shortLimit && new.body.total ?? 0 <= Self.shortLimit
  }

  /// Calls `decided`, on any thread, when the outcome is known. Returns `false`, and does not call it, if the outcome is known already.
  func wait(_ decided: @escaping @Sendable () -> Void) -> Bool {
    waiters.withLock { waiters in
      guard waiters != nil else { return false }
      waiters?.append(decided)
      return true
    }
  }

  /// The number of bytes of the old body that have to be equal: all, or the bytes that are held from its start on.
  private var target: UInt64 {
    if old.body.isComplete, let total = old.body.total { return total }
    return old.body.held.contiguousEnd(from: 0)
  }

  private func step() {
    guard !isDecided else { return }
    if let a = old.body.total, let b = new.body.total, a != b { return decide(equal: false) }
    if old.body.failure != nil || new.body.failure != nil { return decide(equal: false) }
    if target == 0, !old.body.isComplete { return decide(equal: false) }
    // Bytes that do not go to the disk cannot be compared later.
    if new.body.isStreaming { return decide(equal: false) }
    if compared >= target { return wholeIsCompared() }
    switch old.body.availability(at: compared) {
    case .bytes(let until): compareNext(through: min(until, target))
    case .checking:
      old.body.check(at: compared, on: loop) { [weak self] outcome in
        if case .unavailable = outcome { self?.decide(equal: false) } else { self?.step() }
      }
    case .missing, .ended, .failed: decide(equal: false)
    }
  }

  /// Decides after all bytes that the old body holds were found equal. If the old body is complete, the new one must not be longer.
  private func wholeIsCompared() {
    guard old.body.isComplete else { return decide(equal: true) }
    if new.body.isComplete { return decide(equal: new.body.total == old.body.total) }
    if new.body.total == old.body.total { return decide(equal: true) }
    waitForMore()
  }

  /// Waits until the fill has brought more. A fill that has ended without the rest proves nothing.
  private func waitForMore() {
    let isFilling = FillCoordinator.isFilling(new)
    let frontier = new.body.held.contiguousEnd(from: 0)
    if compared < target {
      if frontier > compared { return step() }
      guard isFilling, !new.body.isComplete else {
        let isPart = !old.body.isComplete && compared > 0 && new.body.failure == nil
        if isPart { store.reinstate(old, insteadOf: new, upTo: compared) }
        return decide(equal: false, keeps: isPart)
      }
    } else if new.body.isComplete {
      return decide(equal: new.body.total == old.body.total)
    }
    guard isFilling else { return decide(equal: false) }
    new.body.wait(at: frontier, token: token, on: loop) { [weak self] in self?.step() }
  }

  private func compareNext(through limit: UInt64) {
    let end = min(limit, new.body.held.contiguousEnd(from: 0), compared + UInt64(Self.piece))
    guard end > compared else { return waitForMore() }
    let range = compared..<end
    let (a, b) = (old.body, new.body)
    downloads.get().pool.run({ Self.areEqual(a, b, range) }, then: loop) { [weak self] equal in
      guard let self else { return }
      guard equal else { return self.decide(equal: false) }
      self.progress.withLock { $0.compared = end }
      b.readerMoved(token: self.token, position: end)
      FillCoordinator.existing(self.new)?.comparisonMoved()
      self.step()
    }
  }

  /// Whether both bodies have the same bytes in this range. Blocking, in the pool.
  private static func areEqual(_ a: StoredBody, _ b: StoredBody, _ range: Range<UInt64>) -> Bool {
    let count = Int(range.upperBound - range.lowerBound)
    var (left, right) = ([UInt8](repeating: 0, count: count), [UInt8](repeating: 0, count: count))
    let haveBoth =
      left.withUnsafeMutableBytes { a.read(range, into: $0) == count }
      && right.withUnsafeMutableBytes { b.read(range, into: $0) == count }
    return haveBoth && left == right
  }

  /// Ends the comparison, and decides which body keeps the tags.
  /// - Parameter keeps: whether the old body is current again, because the new body ended before all held bytes of the old one were
  ///   compared.
  private func decide(equal: Bool, keeps: Bool = false) {
    guard !isDecided else { return }
    progress.withLock { $0.isDecided = true }
    new.body.cancelWait(token: token)
    if equal {
      if let was = old.head.validators.tag, let isNow = new.head.validators.tag, !was.matchesWeakly(isNow) {
        downloads.get().services.counters(of: route.upstream).addDefect(.etagUnstable)
      }
      // A client that has waited here with the tag of a coded form then finds that form.
      store.moveForms(of: old.body, to: new.body)
      // The old file is deleted after it was recorded that the new body has its tags. So no tag is lost if the process ends in between.
      new.body.inheritTags(
        of: old.body, upTo: old.body.reach(compared), isWhole: old.body.isComplete, isMinted: { TagRecord.isOwn($0) }
      ) { [store, old, new] in store.uniteForms(of: old.body, with: new.body) { store.forget(old) } }
      // The remembered answer was made with the tag that was replaced.
      new.rendered.withLock { $0 = nil }
    } else if !keeps, !ResumeTTL.staysForResumption(old, policy: policy) {
      store.forget(old)
    }
    downloads.get().events.log(
      .debug, "refetch-compared",
      ["old": old.body.id.hex, "new": new.body.id.hex, "equal": "\(equal)", "compared": "\(compared)"])
    for body in [old.body, new.body] { body.readerLeft(token: token) }
    FillCoordinator.existing(new)?.compared()
    downloads.get().twins[token] = nil
    let told = waiters.withLock { waiters in
      defer { waiters = nil }
      return waiters ?? []
    }
    for tell in told { tell() }
  }
}
