import PawlCache
import PawlHTTP
import Testing

@Suite("Stored head on disk") struct StoredHeadCodingTests {
  private static let heads = [
    Messages.stored([]),
    Messages.stored(
      ["Vary: Foo", "ETag: \"a\"", "X: \u{fc}", "X:"], status: 404, request: Messages.request(["Foo: 1"])),
    Messages.stored([], age: 1_000_000, request: Messages.request(["Cookie: a=b"]), storability: .sharedPerCookie),
    Messages.stored(["CDN-Cache-Control: max-age=5", "Cache-Control: no-store", "Content-Encoding: gzip"]),
  ]

  @Test("is read back as it was written", arguments: heads.indices)
  func roundTrip(_ index: Int) throws {
    let head = Self.heads[index]
    #expect(try #require(StoredHead(serialized: head.serialize())) == head)
  }

  @Test("is not read when anything is missing or left over", arguments: heads.indices)
  func damaged(_ index: Int) {
    let head = Self.heads[index]
    let bytes = head.serialize()
    for count in 0..<bytes.count { #expect(StoredHead(serialized: Array(bytes.prefix(count))) == nil) }
    #expect(StoredHead(serialized: bytes + [0]) == nil)
    #expect(StoredHead(serialized: [bytes[0] + 1] + bytes.dropFirst()) == nil)
  }

  @Test("never traps on flipped bits", arguments: heads.indices)
  func flipped(_ index: Int) {
    let head = Self.heads[index]
    let bytes = head.serialize()
    for index in bytes.indices {
      for bit in 0..<8 {
        var other = bytes
        other[index] ^= 1 << UInt8(bit)
        if let read = StoredHead(serialized: other) { #expect(read.serialize() == other) }
      }
    }
  }
}
