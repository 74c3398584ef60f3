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

/// The deadlines of many objects of one loop behind one ``LoopTimer``: each costs 16 octets here and 4 in the object,
/// where a timer of its own costs 300. A binary heap whose elements know their places.
///
/// An object that is in the queue is kept alive by it.
package final class DeadlineQueue<Holder: DeadlineHolder> {
  private struct Entry {
    var due: Monotonic
    let holder: Holder
  }

  private let loop: EventLoop
  private var entries: [Entry] = []
  private lazy var timer = loop.makeTimer { [weak self] in self?.rang() }
  /// While deadlines are told: what is set meanwhile comes in a later turn.
  private var notBefore: Monotonic?

  package init(loop: EventLoop) { self.loop = loop }

  package var count: Int { entries.count }

  /// When the object's deadline comes; `nil` where it has none.
  package func due(of holder: Holder) -> Monotonic? {
    holder.deadlinePlace.isTaken ? entries[Int(holder.deadlinePlace.index)].due : nil
  }

  /// ``DeadlineHolder/deadlinePassed()`` is called once, not before `due`; replaces an earlier setting.
  package func set(_ holder: Holder, due: Monotonic) {
    loop.preconditionOnLoop()
    let due = notBefore.map { max($0, due) } ?? due
    let entry = Entry(due: due, holder: holder)
    let index = Int(holder.deadlinePlace.index)
    if index < 0 {
      entries.append(entry)
      rise(entry, from: entries.count - 1)
    } else if due < entries[index].due {
      rise(entry, from: index)
    } else {
      sink(entry, from: index)
    }
    awaitFirst()
  }

  /// The object has no deadline any more.
  package func remove(_ holder: Holder) {
    loop.preconditionOnLoop()
    let index = Int(holder.deadlinePlace.index)
    guard index >= 0 else { return }
    holder.deadlinePlace.index = -1
    let last = entries.removeLast()
    guard index < entries.count else { return }
    // What fills the gap may belong above it or below it.
    if index > 0, last.due < entries[(index - 1) / 2].due { rise(last, from: index) } else { sink(last, from: index) }
  }

  /// Lets go of all.
  package func removeAll() {
    for entry in entries { entry.holder.deadlinePlace = DeadlinePlace() }
    entries = []
  }

  // MARK: - Telling

  private func rang() {
    let now = loop.now
    notBefore = Monotonic(nanoseconds: now.nanoseconds + 1)
    while let first = entries.first, first.due <= now {
      remove(first.holder)
      first.holder.deadlinePassed()
    }
    notBefore = nil
    awaitFirst()
  }

  /// The timer rings at the first deadline, or earlier where that one has gone since.
  private func awaitFirst() {
    guard let first = entries.first, notBefore == nil else { return }
    if let rings = timer.due, rings <= first.due { return }
    timer.schedule(after: first.due - loop.now)
  }

  // MARK: - The heap

  private func rise(_ entry: Entry, from start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard entry.due < entries[parent].due else { break }
      put(entries[parent], at: index)
      index = parent
    }
    put(entry, at: index)
  }

  private func sink(_ entry: Entry, from start: Int) {
    var index = start
    while true {
      var child = 2 * index + 1
      guard child < entries.count else { break }
      if child + 1 < entries.count, entries[child + 1].due < entries[child].due { child += 1 }
      guard entries[child].due < entry.due else { break }
      put(entries[child], at: index)
      index = child
    }
    put(entry, at: index)
  }

  private func put(_ entry: Entry, at index: Int) {
    entries[index] = entry
    entry.holder.deadlinePlace.index = Int32(index)
  }
}
