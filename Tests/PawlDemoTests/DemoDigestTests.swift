import Testing

@testable import PawlDemo

@Suite("The demonstration's SHA-256") struct DemoDigestTests {
  @Test("is that of FIPS 180-4")
  func known() {
    let digest = DemoDigest()
    digest.add(Array("ab".utf8)[...])
    digest.add(Array("c".utf8)[...])
    #expect(digest.finish() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test("of the origin's content does not depend on the pieces")
  func content() {
    let digest = DemoDigest()
    digest.add(LegacyOrigin.content(0..<(1 << 20 + 5))[...])
    #expect(digest.finish() == DemoDigest.ofContent(1 << 20 + 5))
  }
}
