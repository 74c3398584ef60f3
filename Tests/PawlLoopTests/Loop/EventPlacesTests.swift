import Testing

@testable import PawlLoop

@Suite("Places of events") struct EventPlacesTests {
  @Test("no two that are out are the same; those given back are given out again first")
  func givesAndTakes() {
    var places = EventPlaces()
    let out = (0..<EventPlaces.perPiece * 2 + 1).map { _ in places.take() }
    #expect(Set(out).count == out.count)
    for place in out { #expect(UInt(bitPattern: place) % 16 == 0) }
    for place in out[1...] { places.give(place) }
    let again = out[1...].map { _ in places.take() }
    #expect(Set(again) == Set(out[1...]))
    #expect(again.first == out.last)
  }
}
