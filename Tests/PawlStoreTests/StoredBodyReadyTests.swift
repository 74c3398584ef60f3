import PawlHTTP
import PawlLoop
import Testing

@testable import PawlStore

@Suite("What a body can give at once") struct StoredBodyReadyTests {
  @Test("is nothing before it is complete, then runs of its file")
  func file() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body(total: 100)
    try body.write(pattern(60))
    #expect(body.ready(0..<10) == nil)
    try body.write(Array(pattern(100)[60...]), at: 60)
    #expect(body.complete())
    guard case .file(let slice)? = body.ready(10..<30) else { return #expect(Bool(false), "no file") }
    #expect(slice.offset == 10 && slice.count == 20 && slice.fd >= 0)
    #expect(body.readers.count == 0)
  }
}
