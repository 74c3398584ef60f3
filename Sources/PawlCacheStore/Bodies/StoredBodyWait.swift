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
    let replaced = state.withLock { $0.removeWaits(of: token) }
    withExtendedLifetime(replaced) {}
    // Only this position is looked at: thousands of readers may wait for the same bytes.
    let isToWake = state.withLock { state in
      guard state.availability(at: position) == .missing else { return state.schedule(token, callback, on: loop) }
      state.waiters[token] = BodyWaiter(position: position, loop: loop, ready: callback)
      return false
    }
    if isToWake { loop.run { [self] in deliver(on: loop) } }
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

  /// The most readers of a body that go on in one turn of their loop; the others follow in the next turns, so that a body with
  /// thousands of readers does not hold up everybody else on the loop.
  static let mostAtOnce = 32

  private func deliver(on loop: EventLoop) {
    state.withLock { $0.wakeIsRunning(on: loop) }
    // Takes one callback at a time, because a callback may cancel the wait of another reader.
    for _ in 0..<Self.mostAtOnce {
      guard let callback = state.withLock({ $0.popWake(of: loop) }) else { return }
      callback.perform(())
    }
    if state.withLock({ $0.isWokenAgain(loop) }) { loop.nextTurn { [self] in deliver(on: loop) } }
  }
}

extension BodyState {
  @discardableResult
  mutating func removeWaits(of token: ObjectIdentifier) -> [LoopReply<Void>] {
    var removed: [LoopReply<Void>] = []
    if let waiter = waiters.removeValue(forKey: token) { removed.append(waiter.ready) }
    for index in wakes.indices { if let callback = wakes[index].cancel(token) { removed.append(callback) } }
    return removed
  }

  /// Puts a callback into the list of its loop.
  /// - Returns: whether the loop has to be woken.
  fileprivate mutating func schedule(
    _ token: ObjectIdentifier, _ callback: LoopReply<Void>, on loop: EventLoop
  ) -> Bool {
    let index = wakes.firstIndex { $0.loop === loop } ?? wakes.count
    if index == wakes.count { wakes.append(LoopWake(loop)) }
    wakes[index].append(token, callback)
    defer { wakes[index].isScheduled = true }
    return !wakes[index].isScheduled
  }

  /// Moves the waiters that can go on to the lists of their loops.
  /// - Returns: the loops that have to be woken.
  fileprivate mutating func takeWakes(evenWithoutNews: Bool = false) -> [EventLoop] {
    var loops: [EventLoop] = []
    let all = waiters
    for (token, waiter) in all where evenWithoutNews || availability(at: waiter.position) != .missing {
      waiters[token] = nil
      if schedule(token, waiter.ready, on: waiter.loop) { loops.append(waiter.loop) }
    }
    return loops
  }

  fileprivate mutating func wakeIsRunning(on loop: EventLoop) {
    if let index = wakes.firstIndex(where: { $0.loop === loop }) { wakes[index].isScheduled = false }
  }

  /// Whether callbacks of the loop are left for its next turn. Then the loop counts as scheduled.
  fileprivate mutating func isWokenAgain(_ loop: EventLoop) -> Bool {
    guard let index = wakes.firstIndex(where: { $0.loop === loop }), !wakes[index].isScheduled else { return false }
    guard !wakes[index].isEmpty else {
      wakes.remove(at: index)
      return false
    }
    wakes[index].isScheduled = true
    return true
  }

  fileprivate mutating func popWake(of loop: EventLoop) -> LoopReply<Void>? {
    guard let index = wakes.firstIndex(where: { $0.loop === loop }) else { return nil }
    if let callback = wakes[index].pop() { return callback }
    if !wakes[index].isScheduled { wakes.remove(at: index) }
    return nil
  }
}
