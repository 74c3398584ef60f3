/// The connections of one loop, in no order. Each connection stores its index, so removal needs no search. Costs 16 bytes a
/// connection.
struct ConnectionList {
  private var members: [any ServedConnection] = []

  var count: Int { members.count }
  var isEmpty: Bool { members.isEmpty }
  /// A copy of the list, so that connections may end while the copy is iterated.
  var all: [any ServedConnection] { members }

  mutating func add(_ connection: any ServedConnection) {
    connection.place = ConnectionPlace(index: Int32(members.count))
    members.append(connection)
  }

  /// Removes a connection. Returns `false` if the list does not contain the connection.
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

/// The index of a connection in its ``ConnectionList``, or none.
struct ConnectionPlace {
  fileprivate var index: Int32 = -1
  init() {}

  /// Whether the connection is in no list: it has ended, or another one has taken its place.
  var isNone: Bool { index < 0 }
  fileprivate init(index: Int32) { self.index = index }
}
