import PawlCache
import PawlDisk
import PawlLoop

/// A record of a pack that is being loaded into memory.
struct PackedObject {
  let place: PackPlace
  let pack: Pack
  let bytes: [UInt8]
  let record: PackRecord

  /// Reads the record.
  /// - Parameter waits: whether this may wait for the disk; always `false` on a loop.
  /// - Returns: `nil` if there is no such record any more or, without `waits`, if it is not in the page cache.
  init?(_ place: PackPlace, in packs: Packs, waits: Bool) {
    guard let pack = packs.pack(place.pack), let (bytes, record) = packs.record(place, waits: waits) else {
      return nil
    }
    (self.place, self.pack, self.bytes, self.record) = (place, pack, bytes, record)
  }

  /// Makes a response from the record; `nil` if the record is damaged or out of date. In that case this function marks it as
  /// dead.
  func load(under key: CacheKey, _ core: StoreCore) -> StoredResponse? {
    let row = record.row
    guard !core.trees.covers(row.key, number: row.number) else { return drop(core, nil) }
    guard let head = StoredHead(serialized: row.head) else { return drop(core, "its head is not what pawl wrote") }
    // Damaged content is found, and mended, when it is read.
    return StoredResponse(head, body(head, key, core), row)
  }

  private func body(_ head: StoredHead, _ key: CacheKey, _ core: StoreCore) -> StoredBody {
    let row = record.row
    let isIntact = bytes.withUnsafeBytes { record.isIntact($0) }
    var state = BodyState()
    (state.total, state.home) = (row.total, key)
    let start = UInt64(place.offset + record.content.lowerBound)
    state.enterPack(place, BodyDescriptor(in: pack, at: start), record.content.count, record.digest)
    state.content = .recorded
    if !isIntact { state.verified = HeldBytes() }
    state.standing = .published
    state.tags = record.tags
    state.tags.keepToLimit()
    state.isTagSent = true
    state.hasStrongValidator = head.isStronglyValidated(isPersonal: row.kind == .personal)
    (state.uses, state.usesSeen, state.lastUsed) = (1, 1, row.lastUsed)
    state.lastTouch = core.openBodies.lately
    return StoredBody(id: row.id, number: row.number, core: core, charge: core.noCharge, state: state)
  }

  private func drop(_ core: StoreCore, _ why: String?) -> StoredResponse? {
    core.packs?.kill(place)
    if let why { core.noteDropped(record.row.id, why) }
    return nil
  }
}

extension StoreCore {
  /// Returns why a record cannot be read at the place that the index had for it. `nil` if that is no error, because the record
  /// was marked as dead a moment ago, or its pack was removed.
  fileprivate func unreadable(_ place: PackPlace) -> String? {
    guard let pack = packs?.pack(place.pack) else { return nil }
    switch pack.read(place.offset, PackPlace.unit, waits: true) {
    case .failed(let error): return "\(error)"
    case .wouldWait: return nil
    case .bytes(let bytes):
      let head = bytes.withUnsafeBytes { PackRecord.Head($0) }
      return head?.isLive == false ? nil : "its record is not what pawl wrote"
    }
  }

  func noteUnreadable(_ place: PackPlace) {
    guard let why = unreadable(place) else { return }
    counters.withLock { $0.drops += 1 }
    failures.log(
      .warning, "body-dropped", of: "record \(why)", atMost: FailureLog.few,
      ["pack": packs?.path(of: place.pack) ?? "", "offset": "\(place.offset)", "why": why])
  }
}

extension StoredResponse {
  /// Makes a response from the row of a body.
  convenience init(_ head: StoredHead, _ body: StoredBody, _ row: ObjectRow) {
    let personal =
      row.kind == .personal ? PersonalBinding(owner: row.owner ?? [], expires: row.expires ?? 0) : nil
    self.init(head: head, body: body, storedAt: row.storedAt, personal: personal, supersededAt: row.supersededAt)
  }
}

extension StoredHead {
  /// Whether the origin's own validator is strong. For a personal response, a date is never strong.
  func isStronglyValidated(isPersonal: Bool) -> Bool {
    isPersonal ? validators.tag.map { !$0.isWeak } ?? false : isStronglyValidated
  }
}
