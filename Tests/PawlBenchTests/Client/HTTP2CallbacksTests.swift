import CNGHTTP2
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlBench

@Suite("A client's session of nghttp2") struct HTTP2CallbacksTests {
  @Test("opens with its preface, no push, and windows that do not hold up large bodies")
  func opening() throws {
    let settings = try Performing.settings(.hit)
    let address = try #require(SocketAddress.parse("127.0.0.1:1"))
    let worker = Worker(
      try EventLoop(index: 0), index: 0, settings: settings, server: ServerPlace(address: address), reference: nil,
      body: nil, exhausted: {})
    let connection = HTTP2Connection(worker)
    let session = HTTP2Callbacks.makeSession(connection)
    defer { nghttp2_session_del(session) }
    var bytes: [UInt8] = []
    var piece: UnsafePointer<UInt8>?
    while case let count = nghttp2_session_mem_send(session, &piece), count > 0, let start = piece {
      bytes += UnsafeBufferPointer(start: start, count: count)
    }
    let frames: [UInt8] =
      [0, 0, 12, 4, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 0, 0x40, 0, 0]
      + [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x03, 0xff, 0x00, 0x01]
    #expect(bytes == Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frames)
  }
}
