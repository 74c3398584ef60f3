import CLinux
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Content of a request that is passed on") struct ForwardExchangeContentTests {
  /// The file that the next content will wait in.
  private func nextBuffer(of pawl: TestServer) throws -> CInt {
    let descriptor = pawl.onLoop { loop in
      loop.services.router.all[0].bufferSpace?.makeFile().map { dup($0.descriptor) }
    }
    // It was given back to the spares: everything that was given to the pool before is done.
    let gate = Gate()
    pawl.keepPoolBusy(until: gate)
    gate.open()
    return try #require(descriptor ?? nil)
  }

  private func size(of descriptor: CInt) -> Int {
    var facts = stat()
    return fstat(descriptor, &facts) == 0 ? Int(facts.st_size) : -1
  }

  @Test(
    "that cannot be read back ends the request visibly, whether its answer has begun or not", arguments: [true, false])
  func unreadable(_ hasBegun: Bool) throws {
    // More than sockets and memory take while the origin reads nothing.
    let (piece, count) = (100_000, 12_000_000)
    let (asked, taken) = (Gate(), Gate())
    let begin = hasBegun ? "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf" : ""
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(begin), .open(asked), .wait(taken), .readToEnd])
    let pawl = try TestServer(origin)
    let buffer = try nextBuffer(of: pawl)
    defer { close(buffer) }
    let client = pawl.connect()
    client.send("POST /f HTTP/1.1\r\nHost: site\r\nX-Request-Id: r\r\nContent-Length: \(count)\r\n\r\n")
    pawl.settle()
    let bytes = [UInt8](repeating: 7, count: piece)
    for _ in 0..<count / piece {
      // What comes slowly is gathered.
      pawl.clock.advance(by: .seconds(1))
      client.send(bytes)
      pawl.settle()
    }
    asked.wait()
    if hasBegun {
      #expect(client.readHead().hasPrefix("HTTP/1.1 200 OK\r\n") && client.read(4) == Array("half".utf8))
    }
    #expect(size(of: buffer) > count / 2 && ftruncate(buffer, 0) == 0)
    taken.open()
    if hasBegun {
      #expect(client.readToEnd() == ([], .inOrder))
      #expect(pawl.events("transfer-cut").count == 1)
    } else {
      #expect(client.readAnswer()["Proxy-Status"]?.hasPrefix("pawl; error=proxy_internal_error") == true)
    }
    #expect(
      pawl.record(1, "status", "ended_by", "end_reason")
        == [hasBegun ? "200" : "500", "origin", "proxy_internal_error"])
    client.close()
    #expect(pawl.stop() == [])
  }
}
