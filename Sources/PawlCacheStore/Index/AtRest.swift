/// The places of the objects of one key while none of them is in memory.
struct AtRest: Hashable {
  /// The number of objects in the catalogue.
  var rows = 0
  /// The places of the records in packs.
  var places: [PackPlace] = []
  /// Whether one of those records was requested since it was written.
  var wasUsed = false

  var isEmpty: Bool { rows == 0 && places.isEmpty }
  var count: Int { rows + places.count }
}

/// Holds an ``AtRest`` that does not fit into one word.
final class AtRestBox {
  var content: AtRest
  init(_ content: AtRest) { self.content = content }
}

extension StoredBody {
  /// Adds the places of this body and of its coded forms, for the time when they are not in memory.
  func note(in rest: inout AtRest) {
    let forms = state.withLock { state in
      if let place = state.place.packed { rest.places.append(place) } else { rest.rows += 1 }
      if state.wasUsedSinceStored { rest.wasUsed = true }
      return state.forms
    }
    for form in forms { form.body.note(in: &rest) }
  }
}
