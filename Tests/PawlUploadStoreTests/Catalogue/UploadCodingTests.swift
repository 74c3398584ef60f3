import PawlHTTP
import Testing

@testable import PawlUploadStore

@Suite("Uploads as bytes") struct UploadCodingTests {
  private var origin: UploadOrigin {
    var head = RequestHead(
      method: .other(Array("FOO".utf8)), target: Bytes("/a?b"), authority: Bytes("x:1"), version: .http10,
      framing: .length(7))
    head.fields.append(named: Array("X-Odd".utf8), [0xff, 0x20])
    head.fields.append(.cookie, "")
    var origin = UploadOrigin(
      head: head, scheme: Array("https".utf8), clientAddress: Array("::1".utf8), peerIsTrusted: true, port: 443,
      owner: [0, 1], client: [2], isTus: true, metadata: [], concat: nil, concatenation: .final)
    origin.parts = [UploadID(high: 1, low: 2), UploadID(high: .max, low: 0)]
    return origin
  }

  @Test("what is read back is what was written", arguments: [BodyFraming.none, .length(.max), .chunked])
  func roundTrip(_ framing: BodyFraming) {
    var origin = origin
    origin.head.framing = framing
    #expect(UploadOrigin(serialized: origin.serialize()) == origin)
  }

  @Test("where its URL was given out and how large it may be is written where it is known, and missing before")
  func prefix() {
    var origin = origin
    #expect(origin.serialize().first == 2)
    (origin.prefix, origin.largest) = (Array("/up/".utf8), .max)
    let bytes = origin.serialize()
    #expect(bytes.first == 3 && UploadOrigin(serialized: bytes) == origin)
    for count in bytes.indices { #expect(UploadOrigin(serialized: Array(bytes.prefix(count))) == nil) }
    #expect(UploadOrigin(serialized: bytes + [0]) == nil)
  }

  @Test("what was written before parts were noted is read without them")
  func withoutParts() {
    var origin = origin
    origin.parts = []
    var bytes = origin.serialize()
    bytes[0] = 1
    #expect(UploadOrigin(serialized: Array(bytes.dropLast(8))) == origin)
  }

  @Test("bytes that are cut, continued or changed are refused or read as something else, never trapped over")
  func hostile() {
    let bytes = origin.serialize()
    for count in bytes.indices { #expect(UploadOrigin(serialized: Array(bytes.prefix(count))) == nil) }
    #expect(UploadOrigin(serialized: bytes + [0]) == nil)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 0xff
      _ = UploadOrigin(serialized: changed)
    }
  }

  @Test("fields alone") func fields() {
    let fields = origin.head.fields
    #expect(FieldsCoding.fields(FieldsCoding.serialize(fields)) == fields)
    #expect(FieldsCoding.fields([1]) == nil)
  }
}
