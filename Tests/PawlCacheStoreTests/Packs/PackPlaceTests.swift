import Testing

@testable import PawlCacheStore

@Suite("Places in packs") struct PackPlaceTests {
  @Test(
    "a place is a word, and says what it was made of",
    arguments: [
      (1, 64, 64), (PackPlace.numberLimit - 1, PackPlace.packLimit - 64, PackPlace.recordLimit), (0, 0, 0),
      (4711, 65_536, 10_304), (1, 64, 131_008), (1, 64, 131_072), (1, 64, 132_096),
    ] as [(UInt32, Int, Int)])
  func roundTrip(number: UInt32, offset: Int, size: Int) {
    let place = PackPlace(pack: number, offset: offset, size: size)
    #expect((place.pack, place.offset, place.size) == (number, offset, size))
    #expect(place.bits < 1 << 60)
    #expect(PackPlace(bits: place.bits) == place)
  }

  @Test(
    "a size is padded to what a place can say: to units, and from 128 KiB on to whole KiB",
    arguments: [
      (0, 0), (1, 64), (64, 64), (65, 128), (131_008, 131_008), (131_009, 131_072), (131_072, 131_072),
      (131_073, 132_096), (262_145, 263_168), (PackPlace.recordLimit - 1, PackPlace.recordLimit),
    ])
  func padded(size: Int, padded: Int) {
    #expect(PackPlace.padded(size) == padded)
    #expect(PackPlace.padded(padded) == padded)
    #expect(PackPlace(pack: 1, offset: 64, size: size).size == padded)
  }
}
