import PawlCache
import PawlHTTP
import Testing

@Suite("Of which coding a range is") struct RangeCodingTests {
  private static let gzip = Array("gzip".utf8)
  typealias Body = RangeCoding.NamedBody
  /// Selected by the client's own `Accept-Encoding`, by identity, or by both.
  private static let codedOwn = Body(coding: gzip, isOwn: true, isIdentity: false)
  private static let plainOwn = Body(coding: nil, isOwn: true, isIdentity: false)
  private static let plain = Body(coding: nil, isOwn: false, isIdentity: true)
  private static let plainBoth = Body(coding: nil, isOwn: true, isIdentity: true)
  private static let codedBoth = Body(coding: gzip, isOwn: true, isIdentity: true)
  private static let other = Body(coding: gzip, isOwn: false, isIdentity: false)

  struct Row: Sendable, CustomTestStringConvertible {
    var named: [Body]
    /// For a tag of the origin's, for a date, for a tag of pawl's.
    var tag: RangeCoding, date: RangeCoding, minted: RangeCoding
    var accepts = true
    var testDescription: String { "\(named) accepts: \(accepts)" }
  }

  @Test(
    "is that of the stored body that is named; where it may be either of two, or nothing tells, the whole is given",
    arguments: [
      Row(named: [], tag: .ownUnlessCoded, date: .ownUnlessCoded, minted: .identity),
      Row(named: [], tag: .identity, date: .identity, minted: .identity, accepts: false),
      Row(named: [other], tag: .ownUnlessCoded, date: .ownUnlessCoded, minted: .identity),
      Row(named: [other], tag: .identity, date: .identity, minted: .identity, accepts: false),
      Row(named: [codedOwn], tag: .own(gzip), date: .unknown, minted: .own(gzip)),
      Row(named: [codedBoth], tag: .own(gzip), date: .unknown, minted: .own(gzip)),
      Row(named: [plain], tag: .ownUnlessCoded, date: .ownUnlessCoded, minted: .identity),
      Row(named: [plain], tag: .identity, date: .identity, minted: .identity, accepts: false),
      Row(named: [plainOwn], tag: .own(nil), date: .own(nil), minted: .own(nil)),
      Row(named: [plainOwn, plain], tag: .identity, date: .identity, minted: .identity),
      Row(named: [plainBoth], tag: .identity, date: .identity, minted: .identity),
      Row(named: [codedOwn, plain], tag: .unknown, date: .unknown, minted: .own(gzip)),
      Row(named: [plain, codedOwn], tag: .unknown, date: .unknown, minted: .own(gzip)),
      Row(named: [codedOwn, plainOwn], tag: .unknown, date: .unknown, minted: .own(gzip)),
      Row(named: [plainBoth, other], tag: .identity, date: .identity, minted: .identity),
    ])
  func decides(_ row: Row) {
    func decide(_ condition: RangeCoding.Condition) -> RangeCoding {
      .decide(condition, acceptsCodings: row.accepts, named: row.named)
    }
    #expect(decide(.tag) == row.tag && decide(.date) == row.date && decide(.minted) == row.minted)
    #expect(decide(.none) == .identity)
  }

  @Test("what may be asked for and given by it")
  func allows() {
    let all: [RangeCoding] = [.identity, .own(Self.gzip), .ownUnlessCoded, .unknown]
    #expect(all.map(\.mayAskForRange) == [true, true, false, false])
    #expect(all.map { $0.allowsPart(isCoded: true) } == [true, true, false, false])
    #expect(all.map { $0.allowsPart(isCoded: false) } == [true, true, true, false])
  }

  @Test("a part counts whose coding is the one that is held, and says so")
  func parts() {
    let (coded, bare) = (
      Messages.response(["Content-Encoding: GZip"], status: 206), Messages.response([], status: 206)
    )
    #expect(RangeCoding.own(Self.gzip).takesPart(coded) && !RangeCoding.own(Self.gzip).takesPart(bare))
    #expect(!RangeCoding.own(nil).takesPart(coded) && RangeCoding.own(nil).takesPart(bare))
    #expect(RangeCoding.own(nil).takesPart(Messages.response(["Content-Encoding: gzip"])))
    #expect(RangeCoding.identity.takesPart(coded))
  }

  @Test(
    "a client takes codings when it names one, with a weight above 0",
    arguments: [
      ([], false), (["Accept-Encoding: identity"], false), (["Accept-Encoding: gzip"], true),
      (["Accept-Encoding:"], false), (["Accept-Encoding: gzip;q=0"], false),
      (["Accept-Encoding: gzip; q=0.000, br ;Q=0"], false), (["Accept-Encoding: gzip;q=0.001"], true),
      (["Accept-Encoding: *"], true), (["Accept-Encoding: IDENTITY;q=1", "Accept-Encoding: br"], true),
    ] as [([String], Bool)])
  func accepts(_ lines: [String], _ expected: Bool) {
    #expect(RangeCoding.acceptsCodings(Messages.fields(lines)) == expected)
  }
}
