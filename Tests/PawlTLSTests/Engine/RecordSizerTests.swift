import Testing

@testable import PawlTLS

@Suite("Record sizes") struct RecordSizerTests {
  private let second: UInt64 = 1_000_000_000

  @Test("32 KiB in records that fit a packet, then full ones")
  func grows() {
    var sizer = RecordSizer()
    sizer.begin(at: 5 * second)
    var (small, sent) = (0, 0)
    while sent < 1 << 20 {
      let size = sizer.next((1 << 20) - sent)
      if size == RecordSizer.small {
        small += size
      } else {
        #expect(size == RecordSizer.full || sent + size == 1 << 20)
      }
      sent += size
    }
    #expect(small >= RecordSizer.smallTotal && small < RecordSizer.smallTotal + RecordSizer.small)
  }

  @Test(
    "after a silence of a second they are small again",
    arguments: [(0, false), (999_999_999, false), (1_000_000_000, true)] as [(UInt64, Bool)])
  func shrinks(_ silence: UInt64, _ isSmall: Bool) {
    var sizer = RecordSizer()
    sizer.begin(at: second)
    for _ in 0..<30 { _ = sizer.next(1 << 20) }
    sizer.begin(at: second + silence)
    #expect(sizer.next(1 << 20) == (isSmall ? RecordSizer.small : RecordSizer.full))
  }

  @Test("never more than there is, and small writes count as they are")
  func short() {
    var sizer = RecordSizer()
    sizer.begin(at: 1)
    #expect(sizer.next(1) == 1)
    #expect(sizer.next(RecordSizer.small + 1) == RecordSizer.small)
    sizer.begin(at: 0)
    #expect(sizer.next(10) == 10)
  }
}
