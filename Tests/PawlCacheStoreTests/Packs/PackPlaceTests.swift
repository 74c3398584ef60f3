import Testing

@testable import PawlCacheStore

@Suite("Places in packs") struct PackPlaceTests {
  @Test(
    "a place is a word, and says what it was made of",
    arguments: [
      (1, 64, 64), (PackPlace.numberLimit - 1, PackPlace.packLimit - 64, PackPlace.recordLimit), (0, 0, 0),
      (4711, 65_536, 10_304),
    ] as [(UInt32, Int, Int)])
  func roundTrip(number: UInt32, offset: Int, size: Int) {
    let place = PackPlace(pack: number, offset: offset, size: size)
    #expect((place.pack, place.offset, place.size) == (number, offset, size))
    #expect(place.bits < 1 << 60)
    #expect(PackPlace(bits: place.bits) == place)
  }
}
