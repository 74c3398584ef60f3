import PawlCache
import PawlDisk

/// Eviction: frees space by removing superseded objects first, then partial and expired ones, then those with the lowest score.
/// Objects with readers or a running fill are never evicted.
extension StoreCore {
  /// Reserves disk space, and evicts objects until there is enough.
  func reserveEvicting(_ bytes: UInt64) -> Bool {
    // Each round evicts an object, or is the last.
    while !budget.reserve(bytes) {
      guard let missing = budget.shortfall(bytes), evictOnce(missing, for: bytes) else { return budget.reserve(bytes) }
    }
    return true
  }

  /// Runs one round over the candidates.
  /// - Returns: `false` if no object could be evicted.
  private func evictOnce(_ missing: UInt64, for bytes: UInt64) -> Bool {
    let limit: Int64 = 128
    doomed.withLock { $0.beginRound() }
    defer { doomed.withLock { $0.endRound() } }
    do throws(StoreError) {
      if try evict(try candidates(limit, newest: false), missing, for: bytes) { return true }
      // All candidates are in use, or are already being removed by other threads. Waits until those removals are committed, and
      // reads more candidates.
      catalogue?.barrier()
      if try evict(try candidates(limit * 64, newest: true), missing, for: bytes) { return true }
      // On a small disk, all that can be evicted may be in packs that are not full.
      return packs?.sealAll() == true && emptyOldest(for: bytes) > 0
    } catch {
      noteReadFailure(error)
      return false
    }
  }

  /// Returns the objects that are evicted first, ordered by their score. The row of a body that became complete after the last
  /// sync still says that it is partial, so the body would be evicted before all others. Such a body is left out, or, if `newest`
  /// is set, included as a complete one.
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

  /// Empties and removes the oldest pack. Only one thread at a time does that, because one pack is often enough for several
  /// threads that lack space.
  /// - Returns: the number of bytes that are free now.
  private func emptyOldest(for bytes: UInt64) -> UInt64 {
    emptying.withLock { _ in
      // Another thread may have freed space while this one waited.
      if budget.shortfall(bytes) == 0 { return bytes }
      guard let oldest = oldestPack() else { return 0 }
      return empty(oldest.pack, keepingAll: false)
    }
  }

  /// Reads the free space of the file system, and evicts objects if less than `min-free` is left.
  func watchFreeSpace() {
    do throws(StoreError) {
      budget.noteFree(try Files.space(of: directory).free)
    } catch {
      failures.log(.warning, "cache-space-unknown", of: "space", ["path": directory, "why": "\(error)"])
    }
    _ = makeRoom(0)
  }

  /// Adds up the bytes of incomplete responses. Blocking, in the pool.
  func measurePartial() {
    do throws(StoreError) { partialBytes.store(UInt(clamping: try reader.partialBytes())) } catch {
      noteReadFailure(error)
    }
  }

  /// Logs that a row could not be read. A corrupt catalogue is replaced at the next start.
  func noteReadFailure(_ error: StoreError) {
    failures.log(.error, "catalogue-read-failed", of: "\(error)", ["path": directory, "why": "\(error)"])
    if error.isCorruptCatalogue { BrokenCatalogue.markBroken(in: directory, events) }
  }
}
