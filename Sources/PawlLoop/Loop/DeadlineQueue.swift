/// Something on a loop that has to be done by a certain time, now and then.
package protocol DeadlineHolder: AnyObject {
  /// Where it stands in its queue; the queue's to write.
  var deadlinePlace: DeadlinePlace { get set }
  /// Its deadline has come; it has none any more.
  func deadlinePassed()
}

/// A place in a ``DeadlineQueue``, or none.
package struct DeadlinePlace {
  fileprivate var index: Int32 = -1
  package init() {}
  package var isTaken: Bool { index >= 0 }
}

/// The deadlines of many objects of one loop behind one ``LoopTimer``: each costs 16 bytes here and 4 in the object,
/// where a timer of its own costs 300. A binary heap whose elements know their places.
///
/// An object that is in the queue is kept alive by it.
package final class DeadlineQueue<Holder: DeadlineHolder> {
  private let loop: EventLoop
  /// The two halves of the heap's elements. What is asked most, when something is due, is not generic so, and quick.
  @exclusivity(unchecked) private var dues: [Monotonic] = []
  private var holders: [Holder] = []
  private lazy var timer = loop.makeTimer { [weak self] in self?.rang() }
  /// While deadlines are told: what is set meanwhile comes in a later turn.
  private var notBefore: Monotonic?

  package init(loop: EventLoop) { self.loop = loop }

  package var count: Int { dues.count }

  /// When the object's deadline comes; `nil` where it has none.
  package func due(of holder: Holder) -> Monotonic? {
    let place = holder.deadlinePlace
    return place.isTaken ? dues[Int(place.index)] : nil
  }

  /// ``DeadlineHolder/deadlinePassed()`` is called once, not before `due`; replaces an earlier setting.
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

  /// The object has no deadline any more.
  package func remove(_ holder: Holder) {
    loop.preconditionOnLoop()
    let index = Int(holder.deadlinePlace.index)
    guard index >= 0 else { return }
    holder.deadlinePlace.index = -1
    let (last, due) = (holders.removeLast(), dues.removeLast())
    guard index < dues.count else { return }
    // What fills the gap may belong above it or below it.
    if index > 0, due < dues[(index - 1) / 2] { rise(last, due, from: index) } else { sink(last, due, from: index) }
  }

  /// Lets go of all.
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

  /// The timer rings at the first deadline, or earlier where that one has gone since.
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
