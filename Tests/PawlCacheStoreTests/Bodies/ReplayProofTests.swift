import PawlCache
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("A body that comes again, held against what was recorded") struct ReplayProofTests {
  private static let bytes = pattern(250)

  private static func record(_ range: Range<Int>) -> SegmentRecord {
    let digest = bytes[range].withUnsafeBytes { SegmentDigest.of($0) }
    return SegmentRecord(offset: UInt64(range.lowerBound), length: UInt64(range.count), digest: digest, sequence: 0)
  }

  private func proof(_ ranges: [Range<Int>] = [0..<100, 100..<180, 180..<250]) -> ReplayProof {
    ReplayProof(ranges.map(Self.record))
  }

  private func agrees(_ proof: ReplayProof, _ bytes: [UInt8], _ range: Range<Int>) -> Bool {
    bytes[range].withUnsafeBytes { proof.agrees($0, at: UInt64(range.lowerBound)) }
  }

  @Test("agrees with the same, however it is cut", arguments: [1, 7, 99, 100, 250])
  func same(_ step: Int) {
    let proof = proof()
    for start in stride(from: 0, to: 250, by: step) {
      #expect(agrees(proof, Self.bytes, start..<min(start + step, 250)))
    }
  }

  @Test("finds another byte where its segment ends", arguments: [(0, 99), (99, 99), (100, 179), (249, 249)])
  func other(_ place: Int, _ found: Int) {
    let proof = proof()
    var other = Self.bytes
    other[place] ^= 1
    let first = (0..<250).first { !agrees(proof, other, $0..<$0 + 1) }
    #expect(first == found)
  }

  @Test("begins anew with the first byte, and lets pass what it has had")
  func again() {
    let proof = proof()
    var other = Self.bytes
    other[150] ^= 1
    #expect(agrees(proof, Self.bytes, 0..<170))
    #expect(agrees(proof, other, 140..<170) && agrees(proof, Self.bytes, 165..<200))
    #expect(agrees(proof, other, 0..<150) && !agrees(proof, other, 150..<180))
    #expect(!agrees(self.proof(), Self.bytes, 10..<20))
  }

  @Test("proves nothing behind a hole")
  func holes() {
    #expect(proof().end == 250 && proof([0..<100, 180..<250]).end == 100 && proof([100..<180]).end == 0)
    let proof = proof([0..<100, 180..<250])
    #expect(agrees(proof, Self.bytes, 0..<120) && agrees(proof, Array(repeating: 0, count: 250), 120..<250))
  }
}
