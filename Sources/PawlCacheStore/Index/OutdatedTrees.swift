import PawlBase
package import PawlCache
import PawlDisk
package import PawlLoop

/// Paths at and below which everything stored before a certain moment is out of date, because a WebDAV collection was removed,
/// moved or replaced there (RFC 4918 §9.6, §9.8, §9.9).
///
/// The paths end with a slash. Objects under the path without the slash, or under another spelling of it (``PercentSpelling``),
/// are out of date, too. Objects in memory are removed at once; those that are only on disk are removed when they are loaded.
final class OutdatedTrees: Sendable {
  /// The most paths that are remembered. If there are more, the objects on disk below the older half of the paths are removed in
  /// one walk over catalogue and packs, and these paths are forgotten.
  static let limit = 1024

  private struct State {
    /// A number for each path. Objects at and below the path are out of date if their number is lower. The path is stored as the
    /// normalised beginning of the keys below it.
    var stamps: [[UInt8]: Int64]
    /// The highest number that was ever in `stamps`.
    var newest: Int64
    /// The paths that no walk has handled yet, and the replies that wait for that.
    var waiting: [(tree: [UInt8], done: LoopReply<[Resource]>)] = []
    var isWalking = false
  }
  private let state: Locked<State>

  init(_ stamps: [[UInt8]: Int64] = [:]) {
    state = Locked(State(stamps: stamps, newest: stamps.values.max() ?? 0))
  }

  /// The highest number that a path ever had. An object with a higher number is not out of date.
  var newest: Int64 { state.withLock { $0.newest } }

  /// Whether the object was stored before a collection above it was removed or replaced. Called in the pool.
  func covers(_ key: [UInt8], number: Int64) -> Bool {
    state.withLock { state in
      guard !state.stamps.isEmpty else { return false }
      return Self.trees(above: key).contains { state.stamps[Array($0)].map { number < $0 } ?? false }
    }
  }

  /// Whether an object with this key, given in two parts, is out of date. On any thread.
  func covers(_ authority: UnsafeRawBufferPointer, _ target: UnsafeRawBufferPointer, number: Int64) -> Bool {
    covers(Array(authority) + [0] + Array(target), number: number)
  }

  /// Returns the beginnings of a key up to each slash of its path, and the complete key with a slash added, because it may name a
  /// collection.
  private static func trees(above key: [UInt8]) -> [ArraySlice<UInt8>] {
    let key = OutdatedRows.normalised(key)
    guard let path = key.firstIndex(of: 0) else { return [] }
    let end = key[path...].firstIndex(of: 0x3f)
    let trees = (path..<(end ?? key.endIndex)).filter { key[$0] == 0x2f }.map { key[...$0] }
    return end == nil && key.last != 0x2f ? trees + [(key + [0x2f])[...]] : trees
  }

  /// Whether a key is below one of these paths, or is one of them without the slash.
  static func isCovered(_ key: [UInt8], by trees: [[UInt8]]) -> Bool {
    let key = OutdatedRows.normalised(key)
    return trees.contains { tree in
      key.starts(with: tree) || (key.count + 1 == tree.count && tree.starts(with: key))
    }
  }

  /// Adds a path.
  /// - Returns: the older half of the paths, with their numbers, if there are too many now; else nothing.
  fileprivate func stamp(_ tree: [UInt8], _ number: Int64) -> [[UInt8]: Int64] {
    state.withLock { state in
      state.stamps[tree] = number
      state.newest = max(state.newest, number)
      guard state.stamps.count > Self.limit else { return [:] }
      let oldest = state.stamps.sorted { $0.value < $1.value }.prefix(Self.limit / 2)
      return Dictionary(uniqueKeysWithValues: oldest.map { ($0.key, $0.value) })
    }
  }

  fileprivate func forget(_ stamps: [[UInt8]: Int64]) {
    state.withLock { state in
      for (tree, number) in stamps where state.stamps[tree] == number { state.stamps[tree] = nil }
    }
  }

  /// Adds a reply that waits until a walk has handled a path.
  /// - Returns: whether the caller has to begin a walk.
  fileprivate func wait(_ tree: [UInt8], _ done: LoopReply<[Resource]>) -> Bool {
    state.withLock { state in
      state.waiting.append((tree, done))
      defer { state.isWalking = true }
      return !state.isWalking
    }
  }

  fileprivate func takeWaiting() -> [(tree: [UInt8], done: LoopReply<[Resource]>)] {
    state.withLock { state in
      defer { state.waiting = [] }
      if state.waiting.isEmpty { state.isWalking = false }
      return state.waiting
    }
  }
}

extension CacheStore {
  /// Forgets all that is stored at and below the path of `key`, whose target ends with a slash. Requests from now on do not wait
  /// for responses to earlier requests. Readers of removed objects read on.
  ///
  /// `completion` runs on `loop` when no request is answered from the removed objects any more. If the machine crashes right
  /// after that, objects may come back.
  package func forgetAll(below key: CacheKey, on loop: EventLoop, _ completion: @escaping () -> Void) {
    let (number, tree) = (core.takeNumber(), OutdatedRows.normalised(key.bytes))
    let surplus = core.trees.stamp(tree, number)
    if !surplus.isEmpty { core.pool.run { [core] in core.removeOutdated(surplus) } }
    let done = LoopReply<[Resource]>(on: loop) { [self] loading in
      // These resources may have been read from disk before the path was added.
      var left = loading.count
      if left == 0 { return completion() }
      for resource in loading {
        forgetOnceLoaded(resource, on: loop) {
          left -= 1
          if left == 0 { completion() }
        }
      }
    }
    // The path is recorded first. So when the client has the response to its request, the objects stay removed, also after a
    // `kill -9`.
    core.submit([.outdated(tree, number)]) { [core] _ in
      guard core.trees.wait(tree, done) else { return }
      if !core.pool.run({ core.walkOutdatedTrees() }) { core.walkOutdatedTrees() }
    }
  }

  /// Forgets all that is stored of a resource (RFC 9111 §4.4), like ``forgetAll(below:on:_:)``. `completion` runs on `loop` when
  /// no request is answered from these objects any more, also after a `kill -9`. It runs at once if no object has a row in the
  /// catalogue, else after a commit.
  package func invalidate(_ resource: Resource, on loop: EventLoop, _ completion: @escaping () -> Void) {
    guard let hasRows = core.invalidate(resource) else { return forgetOnceLoaded(resource, on: loop, completion) }
    onceRecorded(hasRows, on: loop, completion)
  }

  private func forgetOnceLoaded(
    _ resource: Resource, on loop: EventLoop, _ completion: @escaping () -> Void
  ) {
    load(resource, on: loop) { [self] in
      onceRecorded(core.forgetAll(of: resource), on: loop, completion)
    }
  }

  /// Waits for the commit that removes the rows of the objects that were just dropped.
  private func onceRecorded(_ hasRows: Bool, on loop: EventLoop, _ completion: @escaping () -> Void) {
    guard hasRows else { return completion() }
    let done = LoopReply<Void>(on: loop) { _ in completion() }
    core.submit([], isUrgent: true) { _ in done.send(()) }
  }
}

extension StoreCore {
  /// Walks over the resources in memory, with one walk for all replies that wait.
  fileprivate func walkOutdatedTrees() {
    while true {
      let waiting = trees.takeWaiting()
      guard !waiting.isEmpty else { return }
      let found = index.resources(below: waiting.map(\.tree))
      let loading = found.filter { invalidate($0) == nil }
      for (tree, done) in waiting { done.send(loading.filter { OutdatedTrees.isCovered($0.key.bytes, by: [tree]) }) }
    }
  }

  /// Invalidates a resource, and drops its responses if it is loaded.
  /// - Returns: the result of ``forgetAll(of:)``; `nil` if the resource is not loaded. Then no response was dropped.
  fileprivate func invalidate(_ resource: Resource) -> Bool? {
    let isLoaded = resource.withLock { state in
      state.invalidate()
      return state.isLoaded
    }
    return isLoaded ? forgetAll(of: resource) : nil
  }

  /// Drops all responses of a resource.
  /// - Returns: whether one of them had a row in the catalogue.
  fileprivate func forgetAll(of resource: Resource) -> Bool {
    var hasRows = false
    for response in resource.withLock({ $0.responses }) {
      if response.body.state.withLock({ $0.place.isFile }) { hasRows = true }
      drop(response.body)
    }
    return hasRows
  }

  /// Removes the objects on disk below these paths, and forgets the paths.
  fileprivate func removeOutdated(_ stamps: [[UInt8]: Int64]) {
    let outdated = OutdatedTrees(stamps)
    doomed.withLock { $0.beginRound() }
    defer { doomed.withLock { $0.endRound() } }
    do throws(StoreError) {
      let old = try reader.objects(before: stamps.values.max() ?? 0) { outdated.covers($0, number: $1) }
      for candidate in old { _ = evict(candidate) }
      removePacked(coveredBy: outdated)
    } catch {
      return noteReadFailure(error)
    }
    trees.forget(stamps)
    submit(stamps.keys.map { .forgotten($0) })
  }
}
