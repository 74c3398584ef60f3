import CLinux
package import PawlDisk
package import PawlLoop

/// Syncs bytes to the disk, and then records their number in the row. Clients are told an offset only after both.
extension SpooledUpload {
  /// Makes everything written so far durable. `then` gets the offset that clients may be told. Bytes that are being verified are
  /// synced too, but are not part of that offset yet.
  package func sync(on loop: EventLoop, then: @escaping (Result<UInt64, StoreError>) -> Void) {
    let reply = LoopReply(on: loop, then)
    let told = state.withLock { state -> UInt64? in
      guard state.unsynced(isDurable: core.isDurable) == 0 else { return nil }
      return state.durable >= state.written && state.durableRevision >= state.revision ? state.durable : nil
    }
    if let told { return reply.send(.success(told)) }
    makeDurable { reply.send($0) }
  }

  /// Syncs the bytes written so far; no caller waits for the sync.
  func syncByItself() { makeDurable { _ in } }

  /// Syncs while the upload grows. Bytes that are being verified are only synced, not recorded, so that little is left to do once
  /// they count.
  func syncBehindWriter() {
    if state.withLock({ $0.hold.isVerifying }) { syncBytes { _ in } } else { syncByItself() }
  }

  private func makeDurable(_ then: @escaping @Sendable (Result<UInt64, StoreError>) -> Void) {
    syncBytes { [self] error in
      if let error { return then(.failure(error)) }
      core.record(self) { [self] isRecorded in
        let durable = noteRecorded(isRecorded, durably: true)
        then(
          isRecorded ? .success(durable) : .failure(.catalogue(code: StoreError.failedCommit, message: "not recorded")))
      }
    }
  }

  /// Notes whether the changes that ``takeChanges()`` returned last are recorded. Called on the catalogue's thread, right after the
  /// commit.
  /// - Returns: the offset that clients may be told.
  @discardableResult
  func noteRecorded(_ isRecorded: Bool, durably: Bool) -> UInt64 {
    guard isRecorded && durably else { return state.withLock { $0.durable } }
    let (durable, isNews, isWholePart) = state.withLock { state in
      let isNews = state.takenOffset > state.durable
      state.durable = max(state.durable, state.takenOffset)
      state.durableRevision = state.takenRevision
      let isWhole = state.row.length == state.durable
      return (state.durable, isNews, isWhole && concatenation == .partial && state.place == .open)
    }
    if isWholePart { count(as: .wholePart) }
    if isNews { notify() }
    return durable
  }

  // MARK: The bytes

  /// Syncs all bytes written so far; `then` runs on any thread. There is one sync at a time, because the kernel reports a failed
  /// write to one sync only.
  func syncBytes(_ then: @escaping @Sendable (StoreError?) -> Void) {
    enum Next { case done, wait, start }
    let next = state.withLock { state -> Next in
      if !core.isDurable {
        if state.goBack == nil && state.row.offset < state.written {
          state.row.offset = state.written
          state.touch()
        }
        return .done
      }
      let isVerifying = state.hold.isVerifying
      let isVerifiedSynced = !isVerifying || state.syncedEnd >= state.end
      if state.row.offset >= state.written && state.isNameSynced && isVerifiedSynced { return .done }
      let target = isVerifying ? state.end : state.written
      return state.syncing.join(SyncWaiter(target: target, isAhead: isVerifying, then: then)) ? .start : .wait
    }
    switch next {
    case .done: then(nil)
    case .wait: break
    case .start:
      // The pool has stopped, because the process ends. Closing the spool will sync the bytes.
      if !core.pool.run({ [self] in syncUntilDone() }) {
        endSync(.system(call: "fdatasync", path: "", errno: ECANCELED))
      }
    }
  }

  /// Syncs until all waiters are satisfied. Blocking.
  func syncUntilDone() {
    while true {
      let (descriptor, point, end, cuts, isFreed) = state.withLock {
        ($0.descriptor, $0.written, $0.end, $0.cutCount, $0.isFreed)
      }
      if isFreed { return endSync(.dropped) }
      guard let descriptor = descriptor ?? openForWriting() else {
        return endSync(.system(call: "open", path: core.path(of: id), errno: EIO))
      }
      if let error = sync(descriptor) { return loseTail(error) }
      let (satisfied, isDone) = state.withLock { state in
        state.isNameSynced = true
        // If bytes were taken back meanwhile, other bytes may have replaced them, so this sync does not count.
        guard state.cutCount == cuts else { return ([SyncWaiter](), false) }
        if state.row.offset < point {
          state.row.offset = point
          state.touch()
        }
        state.syncedEnd = max(state.syncedEnd, min(end, state.end))
        let present = state.end
        return state.syncing.satisfied { waiter in
          waiter.isAhead ? waiter.target <= end || waiter.target > present : waiter.target <= point
        }
      }
      for waiter in satisfied { waiter.then(nil) }
      if isDone { return }
    }
  }

  private func sync(_ descriptor: UploadDescriptor) -> StoreError? {
    let isSynced = withExtendedLifetime(descriptor) { fdatasync(descriptor.raw) == 0 }
    guard isSynced else { return Files.failure("fdatasync", core.path(of: id)) }
    guard !state.withLock({ $0.isNameSynced }) else { return nil }
    do throws(StoreError) {
      try Files.syncDirectory(core.bodies)
      return nil
    } catch {
      return error
    }
  }

  private func endSync(_ error: StoreError) {
    let waiters = state.withLock { $0.syncing.end() }
    for waiter in waiters { waiter.then(error) }
  }

  /// Takes back the bytes after the synced ones when a sync has failed: the kernel may have dropped bytes that it could not
  /// write. The writer loses its right, and the client has to continue with a new request.
  private func loseTail(_ error: StoreError) {
    let ended = state.withLock { state in
      let ended = state.endHolder()
      state.written = min(state.written, state.row.offset)
      state.syncedEnd = state.row.offset
      state.goBack = state.written
      // A newly opened descriptor reports the failures that come after it was opened.
      state.descriptor = nil
      state.file.wasReopened()
      // If pawl is killed before the file is cut, the next start must not count the bytes of the file after `written`.
      if state.row.phase == .open { state.row.verifying = state.written }
      state.touch()
      return ended
    }
    core.events.log(.error, "upload-sync-failed", ["upload": id.hex, "why": "\(error)"])
    core.noteDirty(self, soon: true)
    tell(ended)
    endSync(error)
    settle()
  }
}

// MARK: The row

extension SpooledUpload: ChangeSource {
  /// Returns the changes of the row that are not recorded yet. Called on the catalogue's thread.
  package func takeChanges() -> (any RowChanges)? {
    let changes = state.withLock { state -> [UploadChange] in
      var row = state.row
      var answer: UploadAnswer?
      if let transition = state.transition, transition.isRecording {
        transition.apply(&row)
        _ = row.take(transition.event)
        row.changedAt = core.clock.wallSeconds()
        answer = transition.answer
      }
      row = row.recorded
      row.expires = expires(row)
      state.takenRevision = state.revision
      state.takenOffset = row.offset
      var changes: [UploadChange] = [.update(id, row)]
      if state.making.rowTaken() {
        changes = [.insert(UploadEntry(id: id, origin: origin, createdAt: createdAt, row: row))]
      }
      if row.phase == .answered || row.phase == .invalid, state.row.phase != row.phase {
        changes.append(.slim(id, origin.slimmed()))
      }
      if let answer { changes.append(.answer(id, answer)) }
      return changes
    }
    return UploadChanges(list: changes)
  }
}

extension SpooledUpload {
  /// Syncs at the end of the process. Blocking.
  func syncNow() {
    let isMine = state.withLock { state in
      core.isDurable && state.row.offset < state.written && state.syncing.begin()
    }
    if isMine { return syncUntilDone() }
    let done = DispatchedResult()
    syncBytes { done.set($0 == nil) }
    _ = done.wait()
  }
}
