import Testing

@testable import PawlCacheStore

@Suite("What is kept of packs that make room") struct KeptShareTests {
  /// All that was saved up at first has been kept.
  private func spent() -> KeptShare {
    var share = KeptShare()
    while share.most(of: 1600) > 800 { share.note(1600, of: 1600) }
    return share
  }

  @Test("half, where all is in use everywhere")
  func half() {
    var share = spent()
    for _ in 0..<5 {
      #expect(share.most(of: 1600) == 800)
      share.note(800, of: 1600)
    }
  }

  @Test("nearly all, where others left of theirs, as long as that lasts")
  func saved() {
    var share = spent()
    share.note(0, of: 1600)
    share.note(100, of: 1600)
    var kept: [Int] = []
    for _ in 0..<4 {
      kept.append(share.most(of: 1600))
      share.note(share.most(of: 1600), of: 1600)
    }
    #expect(kept == [1500, 1500, 900, 800])
  }

  @Test("no more is saved up than for so many packs")
  func limit() {
    var (share, more) = (spent(), spent())
    for _ in 0..<KeptShare.packs { share.note(0, of: 1600) }
    for _ in 0..<KeptShare.packs + 1 { more.note(0, of: 1600) }
    #expect(share == more && KeptShare.packs == 16)
    share.note(800, of: 1600)
    #expect(share == more)
  }
}
