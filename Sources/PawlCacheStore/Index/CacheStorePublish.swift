package import PawlCache
import PawlDisk
import PawlHTTP
package import PawlLoop

extension CacheStore {
  /// Reserves space (for the expected bytes; 64 MiB if their number is unknown) and makes a body. `completion` is called at once,
  /// before this function returns, if memory or a spare file is there and nothing has to be evicted. Else the work is done in the
  /// pool.
  /// - Parameters:
  ///   - expected: the number of bytes that this fetch will bring; `nil`: all.
  ///   - total: the length of the complete body in bytes, if known.
  ///   - completion: gets `nil` if there is no space or the disk reports an error. Then the response is passed on without being
  ///     stored.
  package func createBody(
    expected: UInt64?, total: UInt64?, on loop: EventLoop, _ completion: @escaping (StoredBody?) -> Void
  ) {
    if let body = core.makeBodyAtOnce(expected: expected, total: total) { return completion(body) }
    let reply = LoopReply(on: loop, completion)
    let isQueued = core.pool.run { [core] in reply.send(core.makeBody(expected: expected, total: total)) }
    if !isQueued { reply.send(nil) }
  }

  /// Puts a response into the index and records it; its body may still be filled. Called once for each body.
  /// - Parameters:
  ///   - replacing: responses that are removed. Their bytes are removed when their readers have left.
  ///   - superseding: responses that are not current any more and stay for clients that have a part of them. If a resource has
  ///     more than 16, the oldest are removed.
  package func publish(
    _ response: StoredResponse, in resource: Resource, replacing: [StoredResponse] = [],
    superseding: [StoredResponse] = []
  ) {
    let now = core.clock.wallSeconds()
    record(insertion(of: response, hash: resource.hash, key: resource.key, now: now), of: response.body)
    for old in superseding where old.body !== response.body {
      old.supersede(at: now)
      core.record([.superseded(old.body.number, at: now)], of: old.body)
    }
    place(response, in: resource) { state in
      let leaving = replacing + superseding
      for old in leaving + [response] { state.variants.remove(old.body) }
      state.superseded.removeAll { old in leaving.contains { $0.body.number == old.body.number } }
      state.superseded.insert(contentsOf: superseding.filter { $0.body !== response.body }, at: 0)
      let unused = state.variants.insert(response)
      let excess = state.superseded.dropFirst(ResourceState.supersededLimit)
      state.superseded.removeLast(excess.count)
      return unused + Array(excess) + replacing.filter { $0.body !== response.body }
    }
  }

  /// Marks a response as superseded although there is no newer one. It stays for clients that have a part of it. If there are
  /// more than 16 superseded ones, the oldest are removed.
  package func supersede(_ response: StoredResponse, in resource: Resource) {
    let now = core.clock.wallSeconds()
    let gone = resource.withLock { state -> [StoredResponse]? in
      guard let current = state.variants.response(of: response.body) else { return nil }
      current.supersede(at: now)
      state.variants.remove(current.body)
      state.superseded.insert(current, at: 0)
      let excess = state.superseded.dropFirst(ResourceState.supersededLimit)
      state.superseded.removeLast(excess.count)
      return Array(excess)
    }
    guard let gone else { return }
    core.record([.superseded(response.body.number, at: now)], of: response.body)
    for old in gone { core.drop(old.body) }
  }

  /// Publishes a response that is found only by its tag and only by its owner, until `expires` (wall clock, seconds).
  package func publishPrivate(_ response: StoredResponse, tag: [UInt8], owner: [UInt8], expires: Int64) {
    guard let resource = index.find(Self.privateKey(tag), create: true) else { return }
    let bound = response.with(head: response.head, personal: .init(owner: owner, expires: expires))
    record(
      insertion(of: bound, hash: resource.hash, key: resource.key, now: core.clock.wallSeconds()), of: response.body)
    place(bound, in: resource) { state in
      let old = Array(state.variants)
      for each in old { state.variants.remove(each.body) }
      return old.filter { $0.body !== bound.body } + state.variants.insert(bound)
    }
  }

  /// Returns the private response that was sent with this tag, if it was used or stored since pawl started and has not expired.
  /// The caller compares the owner in ``StoredResponse/personal``. ``findPrivate(tag:on:_:)`` also searches the disk.
  package func privateResponse(tag: [UInt8]) -> StoredResponse? {
    guard let resource = index.find(Self.privateKey(tag), create: false),
      let response = resource.withLock({ $0.variants.first })
    else { return nil }
    return validPrivate(response)
  }

  /// Finds a response like ``privateResponse(tag:)``, and also one that was stored before pawl started. Call this function on
  /// `loop`.
  package func findPrivate(tag: [UInt8], on loop: EventLoop, _ completion: @escaping (StoredResponse?) -> Void) {
    guard let resource = index.find(Self.privateKey(tag), create: false) else {
      return LoopReply(on: loop, completion).send(nil)
    }
    load(resource, on: loop) { [self] in completion(privateResponse(tag: tag)) }
  }

  private func validPrivate(_ response: StoredResponse) -> StoredResponse? {
    guard let personal = response.personal else { return nil }
    if personal.expires > core.clock.wallSeconds() { return response }
    forget(response)
    return nil
  }

  /// Makes the key of a private response. The target of a request begins with `/`, `*` or a scheme, so a request never has this
  /// key.
  private static func privateKey(_ tag: [UInt8]) -> CacheKey {
    CacheKey(authority: [], target: Bytes("private:") + tag.filter { $0 != 0 })
  }

  /// Replaces the head of a response after a 304. The new response has the same body and the place of the old one.
  package func updateHead(_ response: StoredResponse, head: StoredHead) -> StoredResponse {
    let updated = response.with(head: head)
    let body = response.body
    body.noteValidator(isStrong: head.isStronglyValidated)
    guard let key = body.state.withLock({ $0.home }), let resource = index.find(key, create: false) else {
      return updated
    }
    resource.withLock { state in
      state.variants.replace(updated)
      for index in state.superseded.indices where state.superseded[index].body.number == body.number {
        state.superseded[index] = updated
      }
    }
    core.record([.head(body.number, head.serialize())], of: body)
    return updated
  }

  /// Removes a response from index and catalogue. Its file is removed when its readers have left.
  package func forget(_ response: StoredResponse) { core.drop(response.body) }

  // MARK: Parts

  private func insertion(
    of response: StoredResponse, hash: UInt64, key: CacheKey, now: Int64
  ) -> [CatalogueChange] {
    let body = response.body
    let (total, tags) = body.state.withLock { ($0.total, $0.tags) }
    let row = ObjectRow(
      number: body.number, id: body.id, keyHash: hash, key: key.bytes,
      kind: response.personal == nil ? .shared : .personal, owner: response.personal?.owner,
      head: response.head.serialize(), total: total, isComplete: false, held: 0,
      synced: 0, isSuspect: false, storedAt: response.storedAt, supersededAt: nil, lastUsed: now, uses: 0,
      expires: response.personal?.expires)
    body.state.withLock { $0.birth = (row, tags) }
    return [.insert(row), .tags(body.number, tags)]
  }

  /// Records a body for the first time. A gathered body is recorded later, when its place is decided.
  func record(_ changes: [CatalogueChange], of body: StoredBody) {
    // A body in a pack was published earlier, and a row for it would have no file.
    assert(body.state.withLock { $0.place.packed == nil })
    if !body.isGathering { core.recordBirth(changes, of: body) }
  }

  /// Applies `change` to the resource, or to the one that has replaced it in the index, and drops the responses that `change`
  /// returns.
  private func place(
    _ response: StoredResponse, in resource: Resource, _ change: (inout ResourceState) -> [StoredResponse]
  ) {
    response.body.notePublished(under: resource.key, isStronglyValidated: response.isStronglyValidated)
    var target = resource
    while true {
      let dropped = target.withLock { state in state.isDetached ? nil : change(&state) }
      if let dropped {
        for old in dropped { core.drop(old.body) }
        break
      }
      guard let other = index.find(resource.key, create: true) else { break }
      target = other
    }
    // If the body failed while it was being published, it was not taken out of the index. That is done now.
    if response.body.failure != nil { core.drop(response.body) }
  }
}
