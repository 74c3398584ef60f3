import PawlCache
import PawlDisk

/// Makes room: superseded objects first, then partial and expired ones, then those worth least. Never one with readers or
/// a running fill.
extension StoreCore {
  /// Reserves so many bytes, evicting what is in the way.
  func reserveEvicting(_ bytes: UInt64) -> Bool {
    // Each round evicts something, or is the last.
    while !budget.reserve(bytes) {
      guard let missing = budget.shortfall(bytes), evictOnce(missing, for: bytes) else { return budget.reserve(bytes) }
    }
    return true
  }

  /// One round over the candidates. `false` when nothing could be evicted.
  private func evictOnce(_ missing: UInt64, for bytes: UInt64) -> Bool {
    let limit: Int64 = 128
    doomed.withLock { $0.beginRound() }
    defer { doomed.withLock { $0.endRound() } }
    do throws(StoreError) {
      if try evict(try candidates(limit, newest: false), missing, for: bytes) { return true }
      // All that was seen is going already, or in use: what others evicted has to be committed, and the view widened.
      catalogue?.barrier()
      if try evict(try candidates(limit * 64, newest: true), missing, for: bytes) { return true }
      // On a small disk all that can go may be in packs that are not full.
      return packs?.sealAll() == true && emptyOldest(for: bytes) > 0
    } catch {
      noteReadFailure(error)
      return false
    }
  }

  /// Those first in line to go, in the order of their worth. A body that became complete since the last sync is not
  /// partial, as its row says: the newest would go before all others. It is among them where `newest` is.
  private func candidates(_ limit: Int64, newest: Bool) throws(StoreError) -> [EvictionCandidate] {
    let recorded = try reader.candidates(now: clock.wallSeconds(), limit: limit)
    let known = recorded.compactMap { candidate -> EvictionCandidate? in
      guard candidate.isUnfinished, let body = liveBody(candidate.number) else { return candidate }
      guard let held = body.state.withLock({ $0.isComplete ? $0.held.count : nil }) else { return candidate }
      return newest ? candidate.complete(held: held) : nil
    }
    return known.sorted { ($0.score, $0.number) < ($1.score, $1.number) }
  }

  private func evict(
    _ candidates: [EvictionCandidate], _ missing: UInt64, for bytes: UInt64
  ) throws(StoreError) -> Bool {
    var freed: UInt64 = 0
    let oldest = oldestPack()
    for candidate in candidates where freed < missing {
      if let oldest, oldest.score < candidate.score { break }
      guard evict(candidate) else { continue }
      freed += candidate.held + DiskBudget.objectOverhead
      counters.withLock { $0.evictions += 1 }
      events.log(
        .debug, "body-evicted",
        ["body": candidate.id.hex, "bytes": "\(candidate.held)", "kind": "\(candidate.score.objectClass)"])
    }
    if freed < missing, oldest != nil { freed += emptyOldest(for: bytes) }
    return freed > 0
  }

  /// Lets the oldest pack go. One at a time: of several who lack room together, one pack is often enough for all.
  private func emptyOldest(for bytes: UInt64) -> UInt64 {
    emptying.withLock { _ in
      // Another has made room while this one waited.
      if budget.shortfall(bytes) == 0 { return bytes }
      guard let oldest = oldestPack() else { return 0 }
      return empty(oldest.pack, keepingAll: false)
    }
  }

  /// Asks the file system what is left, and evicts where others have used up what should stay free.
  func watchFreeSpace() {
    do throws(StoreError) {
      budget.noteFree(try Files.space(of: directory).free)
    } catch {
      if let unsaid = failures.due("space") {
        events.log(
          .warning, "cache-space-unknown", ["path": directory, "why": "\(error)", "unsaid": "\(unsaid)"])
      }
    }
    _ = makeRoom(0)
  }

  /// A row could not be read. A catalogue that is corrupt begins anew at the next start.
  func noteReadFailure(_ error: StoreError) {
    if let unsaid = failures.due("\(error)") {
      events.log(
        .error, "catalogue-read-failed", ["path": directory, "why": "\(error)", "unsaid": "\(unsaid)"])
    }
    if error.isCorruptCatalogue { BrokenCatalogue.markBroken(in: directory, events) }
  }
}
