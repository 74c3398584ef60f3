import Testing

@testable import PawlUpstream

@Suite("Shares of the places at an upstream") struct PlaceSharesTests {
  @Test(
    "are percent of the places, rounded down, and none where there are few",
    arguments: [(0, Int.max, .max), (3, .max, .max), (4, 3, 2), (5, 4, 3), (8, 6, 4), (64, 51, 38)])
  func limits(_ limit: Int, _ client: Int, _ path: Int) {
    let shares = PlaceShares(limit: limit, clientShare: 80, pathShare: 60)
    #expect(shares.clientLimit == client && shares.pathLimit == path)
    let none = PlaceShares(limit: limit, clientShare: 100, pathShare: 100)
    #expect(none.clientLimit == .max && none.pathLimit == .max)
  }

  @Test("at the share a client is full, whatever it asks for, and nobody else is")
  func client() {
    var shares = PlaceShares(limit: 10, clientShare: 50, pathShare: 100)
    for path in 1...4 as ClosedRange<UInt64> { shares.take(PlaceHolder(client: 7, path: path), .passThrough) }
    #expect(shares.full(PlaceHolder(client: 7, path: 9), .passThrough) == nil)
    shares.take(PlaceHolder(client: 7, path: 5), .passThrough)
    #expect(shares.full(PlaceHolder(client: 7, path: 9), .passThrough) == .client(7))
    #expect(
      shares.full(PlaceHolder(client: 8, path: 5), .passThrough) == nil && shares.full(.nobody, .passThrough) == nil)
    shares.giveBack(PlaceHolder(client: 7, path: 1), .passThrough, isQuick: false)
    #expect(shares.full(PlaceHolder(client: 7, path: 9), .passThrough) == nil)
  }

  @Test("at the share a path is full for everybody, until its places come back soon")
  func path() {
    var shares = PlaceShares(limit: 10, clientShare: 100, pathShare: 30)
    for client in 1...3 as ClosedRange<UInt64> { shares.take(PlaceHolder(client: client, path: 7), .passThrough) }
    #expect(shares.full(PlaceHolder(client: 9, path: 7), .passThrough) == .path(7))
    #expect(shares.full(PlaceHolder(client: 1, path: 8), .passThrough) == nil)
    shares.take(PlaceHolder(client: 4, path: 7), .passThrough)
    shares.giveBack(PlaceHolder(client: 1, path: 7), .passThrough, isQuick: true)
    #expect(shares.full(PlaceHolder(client: 9, path: 7), .passThrough) == nil)
    shares.take(PlaceHolder(client: 4, path: 7), .passThrough)
    shares.giveBack(PlaceHolder(client: 4, path: 7), .passThrough, isQuick: false)
    #expect(shares.full(PlaceHolder(client: 9, path: 7), .passThrough) == .path(7))
  }

  @Test("of the half for requests whose content is on its way a client has its share, too")
  func uploader() {
    var shares = PlaceShares(limit: 10, clientShare: 80, pathShare: 100)
    let (mine, other) = (PlaceHolder(client: 7, path: 1), PlaceHolder(client: 8, path: 1))
    #expect(shares.uploaderLimit == 4)
    for _ in 1...3 { shares.take(mine, .upload) }
    #expect(shares.full(mine, .upload) == nil)
    shares.take(mine, .upload)
    #expect(shares.full(mine, .upload) == .uploader(7) && shares.full(mine, .passThrough) == nil)
    #expect(shares.full(other, .upload) == nil && shares.full(.nobody, .upload) == nil)
    shares.giveBack(mine, .upload, isQuick: false)
    #expect(shares.full(mine, .upload) == nil && !shares.isFull(.uploader(7)))
    #expect(PlaceShares(limit: 4, clientShare: 10, pathShare: 100).uploaderLimit == 1)
    #expect(PlaceShares(limit: 10, clientShare: 100, pathShare: 50).uploaderLimit == .max)
  }
}
