import CLibevent

/// Room for the libevent events of one loop, cut from larger pieces: an idle connection has one event, and `event_new` costs
/// 16 bytes more for each. A place that was given back is given out again; the pieces go with the loop.
struct EventPlaces: ~Copyable {
  typealias Place = UnsafeMutablePointer<event>

  static let perPiece = 63
  private var pieces: [Place] = []
  /// The place that is given out next; each free one holds the address of the one after it.
  private var free: UnsafeMutableRawPointer?

  deinit { for piece in pieces { piece.deallocate() } }

  /// Not initialised.
  mutating func take() -> Place {
    if free == nil { addPiece() }
    guard let place = free else { preconditionFailure("a piece without places") }
    free = place.load(as: UnsafeMutableRawPointer?.self)
    return place.bindMemory(to: event.self, capacity: 1)
  }

  /// - Parameter place: of an event that is not added.
  mutating func give(_ place: Place) {
    let raw = UnsafeMutableRawPointer(place)
    raw.storeBytes(of: free, as: UnsafeMutableRawPointer?.self)
    free = raw
  }

  private mutating func addPiece() {
    let piece = Place.allocate(capacity: Self.perPiece)
    pieces.append(piece)
    for index in (0..<Self.perPiece).reversed() { give(piece + index) }
  }
}
