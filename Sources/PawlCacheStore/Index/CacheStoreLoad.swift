import CLinux
import PawlCache
import PawlDisk
package import PawlLoop

extension CacheStore {
  /// Loads the objects on disk under the resource's key into memory, unless that was already done. Reads rows, opens files and
  /// checks sizes. If pawl had ended without closing the cache, also verifies bytes that were not synced.
  ///
  /// `completion` runs on `loop` when the objects are loaded. Objects that cannot be trusted are dropped or mended, and logged;
  /// the load never fails. Call this function on `loop`.
  package func load(_ resource: Resource, on loop: EventLoop, _ completion: @escaping () -> Void) {
    let reply = LoopReply<Void>(on: loop) { _ in completion() }
    let isFirst = resource.withLock { state -> Bool? in
      guard !state.isLoaded else { return nil }
      state.loads.append(reply)
      return state.loads.count == 1
    }
    guard let isFirst else { return reply.send(()) }
    guard isFirst else { return }
    let isQueued = core.pool.run { [core] in Self.loadNow(resource, core) }
    if !isQueued { _ = Self.finishLoad(resource, [], of: nil, core.index) }
  }

  /// Loads the objects of a resource at once if there are at most two, and both are in packs and in the page cache; else does
  /// nothing. On any loop.
  package func loadAtOnce(_ resource: Resource) {
    guard let packs = core.packs else { return }
    let rest = resource.withLock { state in
      state.isLoaded || !state.loads.isEmpty || state.atRest.rows > 0 || state.atRest.places.count > 2
        ? AtRest() : state.atRest
    }
    guard !rest.isEmpty else { return }
    var objects: [PackedObject] = []
    for place in rest.places {
      guard let object = PackedObject(place, in: packs, waits: false) else { return }
      objects.append(object)
    }
    let (responses, forms) = Self.loaded(objects, of: resource, core)
    if !forms.isEmpty { core.attachForms(forms, to: responses) }
    _ = Self.finishLoad(resource, responses, of: rest, core.index)
  }

  private static func loaded(
    _ objects: [PackedObject], of resource: Resource, _ core: StoreCore
  ) -> (responses: [StoredResponse], forms: [FoundForm]) {
    var (responses, forms): ([StoredResponse], [FoundForm]) = ([], [])
    for object in latest(objects, core) where object.record.row.key == resource.key.bytes {
      if object.record.row.kind == .coded {
        forms.append(FoundForm(object, core))
      } else if let response = object.load(under: resource.key, core) {
        responses.append(response)
      }
    }
    return (responses.sorted { $0.body.number > $1.body.number }, forms)
  }

  /// Keeps one record of each object. A process that was killed while it wrote a new record of an object may have left the old
  /// one, too.
  private static func latest(_ objects: [PackedObject], _ core: StoreCore) -> [PackedObject] {
    guard objects.count > 1 else { return objects }
    var kept: [PackedObject] = []
    for object in objects {
      guard let other = kept.firstIndex(where: { $0.record.row.number == object.record.row.number }) else {
        kept.append(object)
        continue
      }
      let isLater = object.record.revision > kept[other].record.revision
      core.packs?.kill(isLater ? kept[other].place : object.place)
      if isLater { kept[other] = object }
    }
    return kept
  }

  private static func loadNow(_ resource: Resource, _ core: StoreCore) {
    // Tries again if a record was moved meanwhile.
    while !loadOnce(resource, core) {}
  }

  private static func loadOnce(_ resource: Resource, _ core: StoreCore) -> Bool {
    let rest = resource.withLock { $0.atRest }
    let objects = rest.places.compactMap { place in core.packs.flatMap { PackedObject(place, in: $0, waits: true) } }
    guard resource.withLock({ $0.isLoaded || $0.atRest.places == rest.places }) else { return false }
    for place in rest.places where !objects.contains(where: { $0.place == place }) { core.noteUnreadable(place) }
    var (responses, forms) = loaded(objects, of: resource, core)
    do throws(StoreError) {
      let rows = rest.rows > 0 ? try core.reader.objects(keyHash: resource.hash) : []
      for object in rows where object.row.key == resource.key.bytes {
        if core.doomed.withLock({ $0.contains(object.row.number) }) { continue }
        if object.row.kind == .coded {
          forms.append(FoundForm(object, core))
        } else if let response = BodyLoader(object, core).load(under: resource.key) {
          responses.append(response)
        }
      }
    } catch {
      core.noteReadFailure(error)
    }
    if !objects.isEmpty { responses.sort { $0.body.number > $1.body.number } }
    responses = Reunion(core: core).join(responses)
    core.attachForms(forms, to: responses + resource.withLock { $0.responses })
    return finishLoad(resource, responses, of: rest, core.index)
  }

  /// Adds the loaded responses to the resource.
  /// - Parameter rest: the places that were loaded; `nil`: nothing could be loaded, so the resource is marked as loaded even if
  ///   it has objects at rest.
  /// - Returns: `false` if a record was moved meanwhile. Then nothing was changed.
  private static func finishLoad(
    _ resource: Resource, _ responses: [StoredResponse], of rest: AtRest?, _ index: ResourceIndex
  ) -> Bool {
    let finished = resource.withLock { state -> (replies: [LoopReply<Void>], excess: [StoredResponse])? in
      // Two threads may have loaded the same objects. Then the result of the first is used.
      guard !state.isLoaded || !state.loads.isEmpty else { return ([], []) }
      guard rest == nil || state.isLoaded || state.atRest.places == rest?.places else { return nil }
      defer { state.loads = [] }
      if state.isLoaded { return (state.loads, []) }
      var excess: [StoredResponse] = []
      // Responses that were published meanwhile are already in the resource.
      for response in responses where state.response(number: response.body.number) == nil {
        if response.supersededAt == nil {
          excess += state.variants.append(response)
        } else {
          state.superseded.append(response)
        }
      }
      state.superseded.sort { ($0.supersededAt ?? 0) > ($1.supersededAt ?? 0) }
      state.isLoaded = true
      state.atRest = AtRest()
      return (state.loads, excess)
    }
    guard let (replies, excess) = finished else { return false }
    for response in excess { response.body.core.drop(response.body) }
    // A body may have failed or been dropped before it was in the resource. Then it is taken out now.
    for response in responses where response.body.state.withLock({ $0.failure != nil || $0.isDoomed }) {
      resource.withLock { $0.removeAll(of: response.body) }
    }
    index.removeIfEmpty(resource)
    for reply in replies { reply.send(()) }
    return true
  }
}

/// A coded form that was found on disk, and whose base is not known yet.
struct FoundForm {
  let row: ObjectRow
  let load: (CacheKey) -> StoredResponse?
  /// Removes the form, because its base is missing.
  let remove: () -> Void

  init(_ object: RecordedObject, _ core: StoreCore) {
    row = object.row
    load = { BodyLoader(object, core).load(under: $0) }
    remove = { _ = core.remove(object.row, BodyLoader(object, core).charge) }
  }

  init(_ object: PackedObject, _ core: StoreCore) {
    row = object.record.row
    load = { object.load(under: $0, core) }
    remove = { core.packs?.kill(object.place) }
  }
}

/// Makes a response from the rows of an object and its file.
struct BodyLoader {
  private let object: RecordedObject
  private let core: StoreCore

  init(_ object: RecordedObject, _ core: StoreCore) { (self.object, self.core) = (object, core) }

  /// Loads the body. Blocking. `nil` if the object was dropped, or cannot be loaded now.
  func load(under key: CacheKey) -> StoredResponse? {
    let row = object.row
    if core.trees.covers(row.key, number: row.number) { return removed() }
    // If the object was unloaded a moment ago while its body was in use, that body is used again, because one file must not have
    // two bodies.
    if let body = core.liveBody(row.number) {
      return StoredHead(serialized: row.head).map { response($0, body) }
    }
    let charge = charge
    guard let head = StoredHead(serialized: row.head) else { return drop(charge, "its head is not what pawl wrote") }
    let file: (BodyDescriptor, UInt64)
    do throws(StoreError) {
      file = try open(charge)
    } catch {
      // Descriptors or memory are short. The object is not found this time, but stays in the cache.
      if error.isOfThisMoment {
        core.events.log(.error, "body-open-failed", ["body": row.id.hex, "why": "\(error)"])
        return nil
      }
      return drop(charge, "\(error)")
    }
    let body = StoredBody(
      id: row.id, number: row.number, core: core, charge: charge,
      state: state(head, under: key, descriptor: file.0))
    let recorded = row.held
    let found = body.held.count
    if recorded > found { charge.shrink(recorded - found) } else { charge.add(found - recorded) }
    checkAgainstFile(body, size: file.1)
    return body.failure == nil ? response(head, body) : nil
  }

  /// The charge of the object. The budget has included it since the cache was opened.
  var charge: DiskCharge { DiskCharge(core.budget, bytes: object.row.held + DiskBudget.objectOverhead) }

  private func response(_ head: StoredHead, _ body: StoredBody) -> StoredResponse {
    StoredResponse(head, body, object.row)
  }

  private func open(_ charge: DiskCharge) throws(StoreError) -> (BodyDescriptor, UInt64) {
    let path = core.path(of: object.row.id)
    let raw = try core.openBodies.makingRoom { () throws(StoreError) in try Files.open(path, O_RDWR | O_NOFOLLOW) }
    let descriptor = BodyDescriptor(adopting: raw, pool: core.pool, charge: charge)
    return (descriptor, try Files.size(raw, path))
  }

  private func state(_ head: StoredHead, under key: CacheKey, descriptor: BodyDescriptor) -> BodyState {
    let row = object.row
    var state = BodyState()
    (state.total, state.descriptor, state.home) = (row.total, descriptor, key)
    for segment in object.segments {
      // A row that overlaps an earlier one, or is beyond the total, was not written by pawl, and is ignored.
      guard segment.end <= row.total ?? .max, state.segments.insert(segment) else { continue }
      state.held.insert(segment.range)
    }
    state.heldCount = state.held.count
    state.sequence = object.segments.reduce(row.synced) { max($0, $1.sequence) }
    state.syncedSequence = row.synced
    (state.standing, state.sync) = (.published, .idle)
    state.tags = object.tags
    state.tags.keepToLimit()
    state.isTagSent = true
    state.hasStrongValidator = head.isStronglyValidated(isPersonal: row.kind == .personal)
    (state.uses, state.usesSeen, state.lastUsed) = (row.uses, row.uses, row.lastUsed)
    state.lastTouch = core.openBodies.now()
    if let total = row.total, state.held.contains(0..<total), state.heldCount == total {
      state.content = row.isComplete ? .recorded : .complete
    }
    return state
  }

  /// Removes the ranges that the file does not have. If pawl had ended without closing the cache, also verifies the bytes that
  /// were not synced, and limits the tags to the bytes that can be proven.
  private func checkAgainstFile(_ body: StoredBody, size: UInt64) {
    let row = object.row
    body.cutBeyond(size)
    if let total = row.total, row.isComplete, size != total, body.failure == nil {
      core.events.log(
        .warning, "body-size-differs", ["body": row.id.hex, "size": "\(size)", "total": "\(total)"])
      // A file may be longer than it was. Then the bytes that pawl wrote are still there, and are compared with their digests;
      // the bytes after them were not written by pawl.
      if size > total { truncate(body, to: total) }
    }
    if row.isSuspect, body.failure == nil { verify(body) }
    guard body.failure == nil else { return }
    let isEmpty = body.state.withLock { $0.held.isEmpty && !$0.isComplete }
    if isEmpty {
      core.noteDropped(row.id, "nothing of it is held")
      return body.fail(.disk("nothing of it is held"))
    }
    // All bytes are held, but the row does not say so yet.
    let isNews = body.state.withLock { $0.content == .complete }
    if isNews { core.durability.add(body) }
  }

  private func truncate(_ body: StoredBody, to total: UInt64) {
    guard let descriptor = body.state.withLock({ $0.descriptor }) else { return }
    if ftruncate(descriptor.raw, off_t(clamping: total)) != 0 {
      core.events.log(.warning, "body-truncate-failed", ["body": body.id.hex, "errno": "\(pawl_errno())"])
    }
  }

  /// Verifies segments that were recorded before they were synced, and removes those that differ. Then limits the tags to the
  /// bytes before the first hole, because clients may have got later bytes, which cannot be proven any more. The tags stay if all
  /// bytes that clients have got are recorded and proven.
  private func verify(_ body: StoredBody) {
    let row = object.row
    for segment in object.segments where segment.sequence > row.synced {
      guard body.failure == nil else { return }
      _ = body.checkSegments(from: segment.offset, ahead: 0)
    }
    guard body.failure == nil else { return }
    let changes = body.state.withLock { state -> [CatalogueChange] in
      let isProven = row.isExact && object.segments.allSatisfy { state.held.contains($0.range) }
      let isNarrowed = !state.isComplete && !isProven && state.limitTags(to: state.provable.prefix)
      return isNarrowed ? [.tags(row.number, state.tags), .cleared(row.number)] : [.cleared(row.number)]
    }
    core.submit(changes)
  }

  /// Removes the object, because a collection above it was removed or replaced while the object was on disk only.
  private func removed() -> StoredResponse? {
    if let body = core.liveBody(object.row.number) {
      core.drop(body)
    } else {
      _ = core.remove(object.row, charge)
    }
    return nil
  }

  private func drop(_ charge: DiskCharge, _ why: String) -> StoredResponse? {
    // The sweep for orphans may already have removed the object and its charge.
    if core.remove(object.row, charge) { core.noteDropped(object.row.id, why) }
    return nil
  }
}
