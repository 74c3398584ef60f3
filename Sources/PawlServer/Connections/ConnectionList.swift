/// The connections of one loop, in no order. Each knows its place, so that one leaves without a search, and costs 16 bytes.
struct ConnectionList {
  private var members: [any ServedConnection] = []

  var count: Int { members.count }
  var isEmpty: Bool { members.isEmpty }
  /// A copy: whoever goes through them may end them.
  var all: [any ServedConnection] { members }

  mutating func add(_ connection: any ServedConnection) {
    connection.place = ConnectionPlace(index: Int32(members.count))
    members.append(connection)
  }

  /// `false` where it was not among them.
  @discardableResult
  mutating func remove(_ connection: any ServedConnection) -> Bool {
    let index = Int(connection.place.index)
    guard index >= 0 else { return false }
    connection.place = ConnectionPlace()
    let last = members.removeLast()
    if index < members.count {
      members[index] = last
      last.place = ConnectionPlace(index: Int32(index))
    }
    return true
  }

  mutating func removeAll() {
    for member in members { member.place = ConnectionPlace() }
    members = []
  }
}

/// A place in a ``ConnectionList``, or none.
struct ConnectionPlace {
  fileprivate var index: Int32 = -1
  init() {}
  fileprivate init(index: Int32) { self.index = index }
}
