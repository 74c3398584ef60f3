import CLibevent

/// Memory for the libevent events of one loop, cut from larger pieces. An idle connection has one event, and `event_new` would
/// need 16 additional bytes for each event. The memory of one event is called a place. A place that is given back is used again;
/// the pieces are freed with the loop.
struct EventPlaces: ~Copyable {
  typealias Place = UnsafeMutablePointer<event>

  static let perPiece = 63
  private var pieces: [Place] = []
  /// The first free place. Each free place holds the address of the next free one.
  private var free: UnsafeMutableRawPointer?

  deinit { for piece in pieces { piece.deallocate() } }

  /// Takes a free place. Its memory is not initialised.
  mutating func take() -> Place {
    if free == nil { addPiece() }
    guard let place = free else { preconditionFailure("a piece without places") }
    free = place.load(as: UnsafeMutableRawPointer?.self)
    return place.bindMemory(to: event.self, capacity: 1)
  }

  /// Gives a place back.
  /// - Parameter place: the place of an event that is not added.
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
