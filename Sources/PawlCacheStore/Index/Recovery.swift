import CLinux
import PawlCache
import PawlDisk
import PawlLoop

/// The sweep for orphans after a start: removes files under `bodies/` that have no row, and rows without a file. Each of the 256
/// directories is a separate piece of work for the pool, one after another.
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
    // During a round, the numbers of removed objects are kept. So an object that is dropped after its row was read here is not
    // dropped twice.
    core.doomed.withLock { $0.beginRound() }
    defer { core.doomed.withLock { $0.endRound() } }
    do throws(StoreError) {
      // Rows are read first. A newer file gets its row later, so each file without a row is looked up again.
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
      // The file was made by this process and is not recorded yet, or was recorded a moment ago.
      if core.unrecorded.withLock({ $0.contains(id) }) { return }
      if try core.reader.contains(id) { return }
    }
    let path = "\(folder)/\(name)"
    let wasEmpty = Files.isEmpty(path)
    try Files.unlink(path)
    // An empty file was a spare one, so nothing is lost.
    if wasEmpty { return }
    // After a catalogue was lost, none of its bodies has a row, so the number of these events is limited. A file that pawl has
    // not written is always logged.
    core.failures.log(
      .notice, "body-dropped", of: "no row", atMost: id == nil ? .max : 1,
      ["path": path, "why": "the catalogue has no row for it"])
  }

  private func dropRow(_ row: ObjectIdentity) {
    let candidate = EvictionCandidate(
      number: row.number, id: row.id, keyHash: row.keyHash, held: row.held, .partial)
    guard core.evict(candidate) else { return }
    core.noteDropped(row.id, "its file is missing")
  }
}
