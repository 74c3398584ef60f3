/// What waits to be delivered to one upstream, and how many deliveries it has at a time. Pure: the caller starts them.
///
/// The places are the upstream's own: one whose application hangs holds up nobody else's uploads. Clients take turns, so that
/// one with many uploads delays each of the others by one; and every fourth place is for what nobody waits for any more.
struct DeliveryLines<Entry> {
  /// So many deliveries at a time.
  let limit: Int
  /// Of so many places that become free while both kinds wait, one is for uploads whose client does not wait.
  static var turn: Int { 4 }

  private(set) var running = 0
  private var urgent = FairLine<Entry>()
  private var patient = FairLine<Entry>()
  private var urgentInARow = 0

  init(limit: Int) { self.limit = limit }

  /// Nothing runs, and nothing waits.
  var isIdle: Bool { running == 0 && urgent.isEmpty && patient.isEmpty }

  /// - Parameters:
  ///   - client: who counts for it.
  ///   - isUrgent: a client waits for the answer.
  mutating func append(_ entry: Entry, of client: [UInt8], isUrgent: Bool) {
    if isUrgent { urgent.append(entry, of: client) } else { patient.append(entry, of: client) }
  }

  /// What is to be started now, which takes a place; `nil`: there is none, or nothing waits.
  /// - Parameter isWaiting: whether an entry still waits here; what does not is dropped, and takes no turn.
  mutating func start(where isWaiting: (Entry) -> Bool) -> Entry? {
    guard running < limit else { return nil }
    if urgentInARow >= Self.turn - 1, let entry = patient.popFirst(where: isWaiting) {
      urgentInARow = 0
      running += 1
      return entry
    }
    let found = urgent.popFirst(where: isWaiting)
    // Where nobody else waits, no turn is owed.
    urgentInARow = found == nil || patient.isEmpty ? 0 : urgentInARow + 1
    guard let entry = found ?? patient.popFirst(where: isWaiting) else { return nil }
    running += 1
    return entry
  }

  /// A delivery is over, or could not be begun.
  mutating func ended() { running -= 1 }

  /// Forgets what nobody waits for.
  mutating func dropPatient() { patient = FairLine() }
}

/// Those that wait, of each client first in, first out; clients take turns.
struct FairLine<Entry> {
  private var lines: [[UInt8]: Line<Entry>] = [:]
  /// Clients that have something here, each once.
  private var turns = Line<[UInt8]>()

  var isEmpty: Bool { lines.isEmpty }

  mutating func append(_ entry: Entry, of client: [UInt8]) {
    if lines[client] == nil { turns.append(client) }
    lines[client, default: Line()].append(entry)
  }

  mutating func popFirst(where isWaiting: (Entry) -> Bool) -> Entry? {
    while let client = turns.popFirst() {
      var found: Entry?
      while found == nil, let entry = lines[client]?.popFirst() { if isWaiting(entry) { found = entry } }
      if lines[client]?.isEmpty == true { lines[client] = nil } else { turns.append(client) }
      if let found { return found }
    }
    return nil
  }
}

/// First in, first out, without moving what waits.
private struct Line<Element> {
  private var elements: [Element?] = []
  private var first = 0

  var isEmpty: Bool { first == elements.count }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard first < elements.count else { return nil }
    let element = elements[first]
    elements[first] = nil
    first += 1
    if first == elements.count {
      (elements, first) = ([], 0)
    } else if first >= 1024, first * 2 > elements.count {
      elements.removeFirst(first)
      first = 0
    }
    return element
  }
}
