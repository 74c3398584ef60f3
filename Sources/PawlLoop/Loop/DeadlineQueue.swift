/// An object of one loop that has a deadline in a ``DeadlineQueue`` from time to time.
package protocol DeadlineHolder: AnyObject {
  /// The position of the object in its queue. Only the queue writes it.
  var deadlinePlace: DeadlinePlace { get set }
  /// Called when the deadline has come. The queue has removed the object before this call.
  func deadlinePassed()
}

/// The position of an object in a ``DeadlineQueue``, or none.
package struct DeadlinePlace {
  fileprivate var index: Int32 = -1
  package init() {}
  package var isTaken: Bool { index >= 0 }
}

/// Keeps the deadlines of many objects of one loop with a single ``LoopTimer``. A deadline costs 16 bytes here and 4 in the
/// object; a timer for each object would cost 300.
///
/// The queue is a binary heap; each object stores its own index. The queue keeps its objects alive.
package final class DeadlineQueue<Holder: DeadlineHolder> {
  private let loop: EventLoop
  /// The times of the heap; element `i` of the heap is `dues[i]` with `holders[i]`. The times have an array of their own because
  /// they are read most often: the array is not generic, so access is fast.
  @exclusivity(unchecked) private var dues: [Monotonic] = []
  private var holders: [Holder] = []
  private lazy var timer = loop.makeTimer { [weak self] in self?.rang() }
  /// The earliest time for deadlines that the objects set while ``rang()`` calls these objects; `nil` while ``rang()`` does not
  /// run. So such a deadline passes in a later turn.
  private var notBefore: Monotonic?

  package init(loop: EventLoop) { self.loop = loop }

  package var count: Int { dues.count }

  /// The time of the object's deadline; `nil` if the object has none.
  package func due(of holder: Holder) -> Monotonic? {
    let place = holder.deadlinePlace
    return place.isTaken ? dues[Int(place.index)] : nil
  }

  /// Sets the deadline: ``DeadlineHolder/deadlinePassed()`` is called once, and not earlier than `due`. Replaces an earlier
  /// deadline. On the loop.
  package func set(_ holder: Holder, due: Monotonic) {
    loop.preconditionOnLoop()
    let due = notBefore.map { max($0, due) } ?? due
    let index = Int(holder.deadlinePlace.index)
    if index < 0 {
      dues.append(due)
      holders.append(holder)
      rise(holder, due, from: dues.count - 1)
    } else if due < dues[index] {
      rise(holder, due, from: index)
    } else {
      sink(holder, due, from: index)
    }
    awaitFirst()
  }

  /// Removes the object's deadline, if it has one. On the loop.
  package func remove(_ holder: Holder) {
    loop.preconditionOnLoop()
    let index = Int(holder.deadlinePlace.index)
    guard index >= 0 else { return }
    holder.deadlinePlace.index = -1
    let (last, due) = (holders.removeLast(), dues.removeLast())
    guard index < dues.count else { return }
    // The last element fills the gap, and may then have to move up or down in the heap.
    if index > 0, due < dues[(index - 1) / 2] { rise(last, due, from: index) } else { sink(last, due, from: index) }
  }

  /// Removes all objects.
  package func removeAll() {
    for holder in holders { holder.deadlinePlace = DeadlinePlace() }
    (dues, holders) = ([], [])
  }

  // MARK: - Telling

  private func rang() {
    let now = loop.now
    notBefore = Monotonic(nanoseconds: now.nanoseconds + 1)
    while let due = dues.first, due <= now {
      let holder = holders[0]
      remove(holder)
      holder.deadlinePassed()
    }
    notBefore = nil
    awaitFirst()
  }

  /// Sets the timer to the first deadline. A timer that is set to an earlier time is not changed. When it fires, nothing is due
  /// yet, and the timer is set again.
  private func awaitFirst() {
    guard let first = dues.first, notBefore == nil else { return }
    if let rings = timer.due, rings <= first { return }
    timer.schedule(after: first - loop.now)
  }

  // MARK: - The heap

  private func rise(_ holder: Holder, _ due: Monotonic, from start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard due < dues[parent] else { break }
      put(holders[parent], dues[parent], at: index)
      index = parent
    }
    put(holder, due, at: index)
  }

  private func sink(_ holder: Holder, _ due: Monotonic, from start: Int) {
    var index = start
    while true {
      var child = 2 * index + 1
      guard child < dues.count else { break }
      if child + 1 < dues.count, dues[child + 1] < dues[child] { child += 1 }
      guard dues[child] < due else { break }
      put(holders[child], dues[child], at: index)
      index = child
    }
    put(holder, due, at: index)
  }

  private func put(_ holder: Holder, _ due: Monotonic, at index: Int) {
    (holders[index], dues[index]) = (holder, due)
    holder.deadlinePlace.index = Int32(index)
  }
}
