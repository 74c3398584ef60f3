/// Where the objects of a key are while none of them is in memory.
struct AtRest: Hashable {
  /// So many are in the catalogue.
  var rows = 0
  /// In packs.
  var places: [PackPlace] = []
  /// Whether any of those was asked for since it was written.
  var wasUsed = false

  var isEmpty: Bool { rows == 0 && places.isEmpty }
  var count: Int { rows + places.count }
}

/// One that does not fit into a word.
final class AtRestBox {
  var content: AtRest
  init(_ content: AtRest) { self.content = content }
}

extension StoredBody {
  /// Notes where this body, and what was made of it, is when nothing of it is in memory.
  func note(in rest: inout AtRest) {
    let forms = state.withLock { state in
      if let place = state.place.packed { rest.places.append(place) } else { rest.rows += 1 }
      if state.wasUsedSinceStored { rest.wasUsed = true }
      return state.forms
    }
    for form in forms { form.body.note(in: &rest) }
  }
}
