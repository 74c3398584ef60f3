import CLinux
import PawlDisk
import PawlLoop
import PawlUpload

/// Recovers the uploads of pawl's last run when a spool is opened. Blocking.
///
/// If the kernel was not restarted since then, the page cache has every byte that was written, so all bytes of a file count, except
/// bytes that were being verified. After a restart of the kernel only the bytes up to the recorded offset count. The bytes that do
/// not count are cut off the file.
///
/// The deliveries that go on in the process before this one end there, so their rows and files are left as they are.
struct UploadRecovery {
  private let core: SpoolCore
  private let database: Database
  private let lent: Set<UploadID>
  private let boot: ObjectID
  private var isSameBoot = false
  /// The seconds during which no pawl had the spool open.
  private var absence: Int64 = 0
  private var changes: [UploadChange] = []
  private var keptFiles = Set<String>()
  private var liveCount = 0
  private var answerSizes: [UploadID: UInt64] = [:]

  /// - Parameter lent: the uploads that another process delivers.
  init(_ core: SpoolCore, _ database: Database, lent: Set<UploadID> = [], boot: ObjectID) {
    (self.core, self.database, self.lent, self.boot) = (core, database, lent, boot)
  }

  mutating func recover() throws(StoreError) -> (live: Int, isSameBoot: Bool) {
    let (high, low) = (Int64(bitPattern: boot.high), Int64(bitPattern: boot.low))
    let known = (try CatalogueSchema.meta(database, "boot_high"), try CatalogueSchema.meta(database, "boot_low"))
    isSameBoot = known.0 == high && known.1 == low
    absence = UploadAbsence.length(in: core.settings.path, now: core.clock.wallSeconds())
    var rows: [UploadCatalogue.Recorded] = []
    try UploadCatalogue.forEach(database) { rows.append($0) }
    answerSizes = try UploadCatalogue.answerSizes(database)
    for recorded in rows { recover(recorded) }
    try Files.syncDirectory(core.bodies)
    changes += [.meta("boot_high", high), .meta("boot_low", low)]
    try database.execute("BEGIN IMMEDIATE")
    for change in changes { try change.apply(to: database) }
    // Open orders are deleted. The commands that gave them report that no server answered in time.
    try database.execute("DELETE FROM orders; COMMIT")
    try removeOrphans()
    return (liveCount, isSameBoot)
  }

  private mutating func recover(_ recorded: UploadCatalogue.Recorded) {
    var row = recorded.row
    if row.phase == .removed { return core.bury(recorded.id, at: row.changedAt) }
    keptFiles.insert(recorded.id.hex)
    let isLent = lent.contains(recorded.id) && [.complete, .forwarding, .sent].contains(row.phase)
    if !isLent { UploadAbsence.putOff(&row, by: absence) }
    guard let origin = recorded.origin else {
      return core.events.log(.error, "upload-unreadable", ["upload": recorded.id.hex, "why": "its row is damaged"])
    }
    do throws(StoreError) {
      switch row.phase {
      case .open: try recoverOpen(recorded.id, origin, &row)
      case _ where isLent: break
      case .complete, .forwarding, .sent, .unknown: try checkWhole(recorded.id, &row)
      case .answered, .invalid, .removed: break
      }
    } catch {
      // The upload is left as it is, because another start may be able to read its file.
      return core.events.log(.error, "upload-unreadable", ["upload": recorded.id.hex, "why": "\(error)"])
    }
    if row != recorded.row { changes.append(.update(recorded.id, row)) }
    bring(recorded, origin, row, isLent: isLent)
  }

  private mutating func bring(
    _ recorded: UploadCatalogue.Recorded, _ origin: UploadOrigin, _ row: UploadRow, isLent: Bool
  ) {
    let hasBytes = row.phase != .answered && row.phase != .invalid
    let bytes = hasBytes ? row.offset : 0
    let isWholePart = origin.concatenation == .partial && row.length == row.offset
    let place = row.phase != .open ? .none : isWholePart ? UploadBudget.Place.wholePart : .open
    core.budget.recover(origin.client, bytes: bytes, as: place)
    let charge = DiskCharge(core.budget.disk, bytes: bytes)
    let upload = SpooledUpload(
      recorded.id, origin, createdAt: recorded.createdAt, charge: charge, core: core, row: row)
    upload.state.withLock { state in
      state.making = .made
      state.isNameSynced = true
      if !hasBytes { state.file = .freed }
      state.place = place
      state.notBefore = core.dueTime(row.answerUntil ?? row.giveUpAt ?? 0)
      (state.durableRevision, state.takenRevision) = (state.revision, state.revision)
    }
    if !hasBytes {
      keptFiles.remove(recorded.id.hex)
      upload.state.withLock { $0.answerSize = row.phase == .answered ? answerSizes[recorded.id] ?? 0 : 0 }
      upload.slim()
    }
    if isLent { upload.beginLoan() }
    upload.recount()
    if core.add(upload) { liveCount += 1 }
  }

  private func recoverOpen(_ id: UploadID, _ origin: UploadOrigin, _ row: inout UploadRow) throws(StoreError) {
    let path = core.path(of: id)
    guard let file = try open(id, &row) else { return }
    let descriptor = OwnedDescriptor(adopting: file)
    let size = try Files.size(descriptor.raw, path)
    var count = min(row.offset, size)
    if count < row.offset && core.isDurable {
      return invalidate(id, &row, "its file is shorter than what was recorded")
    }
    if isSameBoot { count = max(count, min(row.verifying ?? .max, row.length ?? .max, size)) }
    if count > row.offset && core.isDurable && fdatasync(descriptor.raw) != 0 {
      core.events.log(
        .error, "upload-sync-failed", ["upload": id.hex, "why": "\(Files.failure("fdatasync", path))"])
      count = row.offset
    }
    if size > count && ftruncate(descriptor.raw, off_t(clamping: count)) != 0 { throw Files.failure("ftruncate", path) }
    (row.offset, row.verifying) = (count, nil)
    let isWholeTus = origin.isTus && origin.concatenation != .partial && row.length == count
    if row.finalAt == count || isWholeTus {
      core.note(.foundWhole, of: id, row.take(.foundWhole))
      (row.length, row.changedAt) = (count, core.clock.wallSeconds())
      core.events.log(.info, "upload-completed", ["upload": id.hex, "length": "\(count)", "at": "start"])
    }
    row.finalAt = nil
  }

  /// Checks that all bytes of an upload that is to be delivered are there.
  private func checkWhole(_ id: UploadID, _ row: inout UploadRow) throws(StoreError) {
    guard let file = try open(id, &row) else { return }
    let descriptor = OwnedDescriptor(adopting: file)
    let size = try Files.size(descriptor.raw, core.path(of: id))
    if size < row.length ?? row.offset { invalidate(id, &row, "its file is shorter than what was recorded") }
  }

  /// Opens the file of an upload. `nil`: the file is missing, and the upload is invalid now.
  private func open(_ id: UploadID, _ row: inout UploadRow) throws(StoreError) -> CInt? {
    do throws(StoreError) {
      return try Files.open(core.path(of: id), O_RDWR)
    } catch {
      guard case .system(_, _, ENOENT) = error else { throw error }
      // The upload was created for a 104 only, so the name of its file was not synced, and the power cut removed it. The client was
      // told of no byte, so an empty file replaces the lost one.
      if !isSameBoot && row.phase == .open && row.offset == 0 {
        return try Files.open(core.path(of: id), O_RDWR | O_CREAT)
      }
      invalidate(id, &row, "its file is missing")
      return nil
    }
  }

  private func invalidate(_ id: UploadID, _ row: inout UploadRow, _ why: String) {
    core.events.log(.error, "upload-invalid", ["upload": id.hex, "why": why])
    row.lastError = why
    let step = row.take(.fileLost)
    core.note(.fileLost, of: id, step)
    if case .to = step { row.changedAt = core.clock.wallSeconds() }
  }

  /// Removes files without a row.
  private func removeOrphans() throws(StoreError) {
    for name in try Files.names(in: core.bodies) where !keptFiles.contains(name) {
      try Files.unlink("\(core.bodies)/\(name)")
      core.events.log(
        .notice, "upload-file-dropped",
        ["path": "\(core.bodies)/\(name)", "why": "the catalogue has no upload with it"])
    }
  }
}
