/// The objects of one cache key that are at rest: on disk, and not loaded into memory.
struct AtRest: Hashable {
  /// The number of objects in the catalogue.
  var rows = 0
  /// The places of the objects that are records in packs.
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
  /// Adds this body and its coded forms, which are about to be unloaded.
  func note(in rest: inout AtRest) {
    let forms = state.withLock { state in
      if let place = state.place.packed { rest.places.append(place) } else { rest.rows += 1 }
      if state.wasUsedSinceStored { rest.wasUsed = true }
      return state.forms
    }
    for form in forms { form.body.note(in: &rest) }
  }
}
