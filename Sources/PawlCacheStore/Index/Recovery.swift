import CLinux
import PawlCache
import PawlDisk
import PawlLoop

/// After a start: files under `bodies/` that no row knows go, and so do rows whose file is missing. One directory of the
/// 256 after another, each its own piece of work for the pool.
extension CacheStore {
  func removeOrphans() {
    let sweep = OrphanSweep(core)
    core.pool.run { sweep.step(0) }
  }
}

final class OrphanSweep: Sendable {
  private let core: StoreCore

  init(_ core: StoreCore) { self.core = core }

  func step(_ byte: Int) {
    guard byte < 256, core.catalogue != nil else { return core.isSwept.withLock { $0 = true } }
    sweep(UInt8(byte))
    core.pool.run { [self] in step(byte + 1) }
  }

  private func sweep(_ byte: UInt8) {
    let folder = core.bodiesDirectory + (byte < 16 ? "/0" : "/") + String(byte, radix: 16)
    // What a reader drops while this goes by rows read before is not dropped twice.
    core.doomed.withLock { $0.beginRound() }
    defer { core.doomed.withLock { $0.endRound() } }
    do throws(StoreError) {
      // Rows first: a file that comes later has a row later, and is asked for again.
      let rows = try core.reader.identities(firstByte: byte)
      var files = Set(try Files.names(in: folder))
      for row in rows where files.remove(row.id.hex) == nil {
        if !Files.exists("\(folder)/\(row.id.hex)") { dropRow(row) }
      }
      for name in files { try removeForeign(name, in: folder) }
    } catch {
      core.events.log(.warning, "cache-sweep-failed", ["path": folder, "why": "\(error)"])
    }
  }

  private func removeForeign(_ name: String, in folder: String) throws(StoreError) {
    let id = ObjectID(hex: Array(name.utf8))
    if let id {
      // Made by this process and not recorded yet, or recorded a moment ago.
      if core.unrecorded.withLock({ $0.contains(id) }) { return }
      if try core.reader.contains(id) { return }
    }
    let path = "\(folder)/\(name)"
    let wasEmpty = Files.isEmpty(path)
    try Files.unlink(path)
    // A spare, that nothing is lost with.
    if wasEmpty { return }
    // Of a lost catalogue all bodies are left; what pawl has not written is named each time.
    guard let unsaid = id == nil ? 0 : core.failures.due("no row") else { return }
    core.events.log(.notice, "body-dropped", ["path": path, "why": "no row knows it", "unsaid": "\(unsaid)"])
  }

  private func dropRow(_ row: ObjectIdentity) {
    let candidate = EvictionCandidate(
      number: row.number, id: row.id, keyHash: row.keyHash, held: row.held, .partial)
    guard core.evict(candidate) else { return }
    core.noteDropped(row.id, "its file is missing")
  }
}
