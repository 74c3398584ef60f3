import CLinux
import PawlCache
import PawlDisk
import PawlHTTP

/// Coded forms in the index. They are recorded under the key of their base, found only through the base, and removed with it.
extension CacheStore {
  /// Records a form, complete or not, and adds it to the body of `base`.
  /// - Parameter tag: the form's own strong tag, which no client has got yet.
  /// - Returns: `false` if there is a form of that coding already, or `base` is being removed. Then the form is dropped.
  package func publishForm(_ form: CodedForm, of base: StoredResponse, tag: [UInt8]) -> Bool {
    let body = form.body
    body.addTag(TagRecord(tag: tag, limit: .max))
    let isSteady = base.body.isComplete
    body.state.withLock { $0.isSteady = isSteady }
    guard let key = base.body.state.withLock({ $0.home }), let resource = index.find(key, create: false),
      base.body.addForm(form)
    else {
      core.drop(body)
      return false
    }
    record(insertion(of: form, base, hash: resource.hash, key: key), of: body)
    body.notePublished(under: key, isStronglyValidated: false)
    // The base may have been dropped meanwhile, with the forms that it had then. So this form is dropped here.
    if base.body.state.withLock({ $0.isDoomed || $0.failure != nil }) { core.drop(body) }
    return true
  }

  private func insertion(
    of form: CodedForm, _ base: StoredResponse, hash: UInt64, key: CacheKey
  ) -> [CatalogueChange] {
    let (body, now) = (form.body, core.clock.wallSeconds())
    let row = ObjectRow(
      number: body.number, id: body.id, keyHash: hash, key: key.bytes, kind: .coded,
      owner: CodedForm.Origin(base: base.body.id, coding: form.coding, isSteady: body.isSteady).bytes,
      head: base.head.serialize(),
      total: body.total, isComplete: false, held: 0, synced: 0, isSuspect: false, storedAt: now, supersededAt: nil,
      lastUsed: now, uses: 0, expires: base.personal?.expires)
    let tags = body.tags
    body.state.withLock { $0.birth = (row, tags) }
    return [.insert(row), .tags(body.number, tags)]
  }

  /// Moves the complete forms of a body that is proven equal to `newer` and about to be removed. A form is moved if `newer` has
  /// none of that coding.
  package func moveForms(of older: StoredBody, to newer: StoredBody) {
    for form in older.forms where form.body.isComplete && newer.form(in: form.coding) == nil {
      older.removeForm(form.body)
      guard newer.addForm(form) else {
        core.drop(form.body)
        continue
      }
      let origin = CodedForm.Origin(base: newer.id, coding: form.coding, isSteady: form.body.isSteady)
      core.record([.owner(form.body.number, origin.bytes)], of: form.body)
    }
  }

  /// Moves the tags of the remaining forms of `older`. If `newer` has a complete form of the same coding with the same bytes,
  /// that form gets the tags. Forms that are still being written are left out, because their later bytes may differ.
  /// - Parameter completion: runs on any thread.
  package func uniteForms(of older: StoredBody, with newer: StoredBody, then completion: @escaping @Sendable () -> Void)
  {
    let pairs = older.forms.compactMap { form in newer.form(in: form.coding).map { (older: form.body, newer: $0) } }
      .filter { $0.older.isComplete && $0.newer.isComplete }
    guard !pairs.isEmpty else { return completion() }
    let isQueued = core.pool.run { [core] in
      for pair in pairs where core.areEqual(pair.older, pair.newer) {
        pair.newer.inheritTags(
          of: pair.older, upTo: .max, isWhole: true, isMinted: { TagRecord.isOwn($0) }, then: {})
      }
      completion()
    }
    if !isQueued { completion() }
  }
}

extension StoreCore {
  /// Whether two bodies have the same bytes. They are compared from byte zero up to the first byte that one of them does not
  /// hold. Blocking.
  func areEqual(_ a: StoredBody, _ b: StoredBody) -> Bool {
    let end = min(a.held.prefix, b.held.prefix)
    if a.isComplete, b.isComplete, a.total != b.total { return false }
    var position: UInt64 = 0
    while position < end {
      let range = position..<min(end, position + SegmentTable.span)
      guard haveSame(range, a, b) else { return false }
      position = range.upperBound
    }
    return true
  }

  /// Whether two bodies have the same bytes in `range`. Blocking.
  func haveSame(_ range: Range<UInt64>, _ a: StoredBody, _ b: StoredBody) -> Bool {
    withSegmentBuffer { left in
      withSegmentBuffer { right in
        let count = Int(range.upperBound - range.lowerBound)
        guard a.readUnverified(range, into: left) == count, b.readUnverified(range, into: right) == count,
          let one = left.baseAddress, let other = right.baseAddress
        else { return false }
        return memcmp(one, other, count) == 0
      }
    }
  }

  /// Adds recorded forms to their bases, and removes those without a base. Blocking.
  func attachForms(_ forms: [FoundForm], to responses: [StoredResponse]) {
    for object in forms {
      guard let origin = object.row.owner.flatMap(CodedForm.Origin.init(bytes:)),
        let base = responses.first(where: { $0.body.id == origin.base })?.body
      else {
        object.remove()
        continue
      }
      // If the base was unloaded while it was in use, loading it gives the same body in memory again, which may still have this
      // form. Then the form is skipped.
      if base.forms.contains(where: { $0.body.number == object.row.number }) { continue }
      guard let key = base.state.withLock({ $0.home }), let form = object.load(key) else {
        continue
      }
      guard Self.canGoOn(form.body, isSteady: origin.isSteady) else {
        drop(form.body)
        continue
      }
      form.body.state.withLock { ($0.base, $0.isSteady) = (WeakStoredBody(body: base), origin.isSteady) }
      if !base.addForm(CodedForm(coding: origin.coding, body: form.body)) { drop(form.body) }
    }
  }

  /// Whether a form is complete, or can be continued. Clients may have got more bytes than are held. So a form can be continued
  /// only if making it again gives the same bytes (``StoredBody/isSteady``). The new bytes are compared with the held ones,
  /// because they differ if the compression library was updated meanwhile.
  private static func canGoOn(_ form: StoredBody, isSteady: Bool) -> Bool {
    form.isComplete || isSteady && form.held.prefix > 0
  }

  /// Removes an idle form from the forms of its base.
  /// - Returns: `nil` if the object is not a form in memory, or is in use.
  func detachForm(_ number: Int64) -> StoredBody? {
    guard let body = liveBody(number), body.isForm, body.state.withLock({ $0.isIdle }) else { return nil }
    body.leaveBase()
    return body
  }

  /// Drops the coded forms of a body that was dropped.
  func dropForms(of body: StoredBody) {
    for form in body.takeForms() { drop(form.body) }
  }
}
