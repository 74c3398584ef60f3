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
    for path in 1...4 as ClosedRange<UInt64> { shares.take(PlaceHolder(client: 7, path: path)) }
    #expect(shares.full(PlaceHolder(client: 7, path: 9)) == nil)
    shares.take(PlaceHolder(client: 7, path: 5))
    #expect(shares.full(PlaceHolder(client: 7, path: 9)) == .client(7))
    #expect(shares.full(PlaceHolder(client: 8, path: 5)) == nil && shares.full(.nobody) == nil)
    shares.giveBack(PlaceHolder(client: 7, path: 1), isQuick: false)
    #expect(shares.full(PlaceHolder(client: 7, path: 9)) == nil)
  }

  @Test("at the share a path is full for everybody, until its places come back soon")
  func path() {
    var shares = PlaceShares(limit: 10, clientShare: 100, pathShare: 30)
    for client in 1...3 as ClosedRange<UInt64> { shares.take(PlaceHolder(client: client, path: 7)) }
    #expect(shares.full(PlaceHolder(client: 9, path: 7)) == .path(7))
    #expect(shares.full(PlaceHolder(client: 1, path: 8)) == nil)
    shares.take(PlaceHolder(client: 4, path: 7))
    shares.giveBack(PlaceHolder(client: 1, path: 7), isQuick: true)
    #expect(shares.full(PlaceHolder(client: 9, path: 7)) == nil)
    shares.take(PlaceHolder(client: 4, path: 7))
    shares.giveBack(PlaceHolder(client: 4, path: 7), isQuick: false)
    #expect(shares.full(PlaceHolder(client: 9, path: 7)) == .path(7))
  }
}
