import PawlDisk
package import PawlLoop

extension StoredBody {
  /// Calls `ready` on `loop` as soon as the state at `position` is not ``Availability/missing``, because there are bytes, the end
  /// or a failure. If that is already so, `ready` is called in the next turn of the loop. A new wait with the same token replaces
  /// the earlier one. Call this function on that loop.
  package func wait(
    at position: UInt64, token: ObjectIdentifier, on loop: EventLoop, _ ready: @escaping () -> Void
  ) {
    let callback = LoopReply<Void>(on: loop) { _ in ready() }
    state.withLock { state in
      state.removeWaits(of: token)
      state.waiters.append(BodyWaiter(token: token, position: position, loop: loop, ready: callback))
    }
    wake()
  }

  /// Cancels a wait: `ready` is not called any more. Call this function on the loop of the wait.
  package func cancelWait(token: ObjectIdentifier) {
    let removed = state.withLock { $0.removeWaits(of: token) }
    withExtendedLifetime(removed) {}
  }

  /// Wakes the loops whose readers can go on. A loop that was woken and has not run yet is not woken again.
  func wake() {
    let loops = state.withLock { state -> [EventLoop] in
      guard !state.waiters.isEmpty else { return [] }
      return state.takeWakes()
    }
    for loop in loops { loop.run { [self] in deliver(on: loop) } }
  }

  /// Wakes every waiting reader, even if its bytes are still missing. Called when a fill has ended, because then the missing
  /// bytes may not come unless the reader starts another fill.
  package func wakeAll() {
    let loops = state.withLock { $0.takeWakes(evenWithoutNews: true) }
    for loop in loops { loop.run { [self] in deliver(on: loop) } }
  }

  private func deliver(on loop: EventLoop) {
    state.withLock { state in
      if let index = state.wakes.firstIndex(where: { $0.loop === loop }) { state.wakes[index].isScheduled = false }
    }
    // Takes one callback at a time, because a callback may cancel the wait of another reader.
    while let callback = state.withLock({ $0.popWake(of: loop) }) { callback.perform(()) }
  }
}

extension BodyState {
  @discardableResult
  mutating func removeWaits(of token: ObjectIdentifier) -> [LoopReply<Void>] {
    var removed: [LoopReply<Void>] = []
    waiters.removeAll { waiter in
      guard waiter.token == token else { return false }
      removed.append(waiter.ready)
      return true
    }
    for index in wakes.indices {
      wakes[index].ready.removeAll { entry in
        guard entry.token == token else { return false }
        removed.append(entry.callback)
        return true
      }
    }
    return removed
  }

  /// Moves the waiters that can go on to the lists of their loops.
  /// - Returns: the loops that have to be woken.
  fileprivate mutating func takeWakes(evenWithoutNews: Bool = false) -> [EventLoop] {
    var loops: [EventLoop] = []
    var left: [BodyWaiter] = []
    for waiter in waiters {
      if !evenWithoutNews, availability(at: waiter.position) == .missing {
        left.append(waiter)
        continue
      }
      let index = wakes.firstIndex { $0.loop === waiter.loop } ?? wakes.count
      if index == wakes.count { wakes.append(LoopWake(loop: waiter.loop, ready: [], isScheduled: false)) }
      wakes[index].ready.append((waiter.token, waiter.ready))
      if !wakes[index].isScheduled {
        wakes[index].isScheduled = true
        loops.append(waiter.loop)
      }
    }
    waiters = left
    return loops
  }

  fileprivate mutating func popWake(of loop: EventLoop) -> LoopReply<Void>? {
    guard let index = wakes.firstIndex(where: { $0.loop === loop }) else { return nil }
    guard !wakes[index].ready.isEmpty else {
      if !wakes[index].isScheduled { wakes.remove(at: index) }
      return nil
    }
    return wakes[index].ready.removeFirst().callback
  }
}
