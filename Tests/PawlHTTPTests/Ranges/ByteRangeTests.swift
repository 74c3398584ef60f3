import PawlHTTP
import Testing

@Suite("Byte ranges") struct ByteRangeTests {
  @Test("counts both ends") func counts() throws {
    let run = try range(5, 9)
    #expect(run.count == 5)
    #expect(run.end == 10)
    #expect(try range(7, 7).count == 1)
    #expect(try range(0, .max - 1).count == .max)
  }

  @Test("a suffix is told from the rest") func suffix() {
    #expect(RangeSpec.suffix(5).isSuffix && !RangeSpec.from(5, through: nil).isSuffix)
  }

  @Test("is never empty and never overflows") func refuses() {
    #expect(ByteRange(first: 5, last: 4) == nil)
    #expect(ByteRange(first: 0, last: .max) == nil)
  }
}
