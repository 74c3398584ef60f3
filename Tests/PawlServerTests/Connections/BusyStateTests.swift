import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Memory of idle connections", .timeLimit(.minutes(1))) struct BusyStateTests {
  private static let answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 3\r\n\r\nabc"

  @Test("between requests a connection holds nothing of the last one, however that was answered")
  func idleHoldsNothing() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(Self.answer), .readToEnd])
    let pawl = try TestServer(origin) { $0.cache = "memory-object = 32K" }
    let client = pawl.connect()
    // Fetched, from memory, the long way with and without content, and by pawl itself.
    let requests = [
      TestServer.request(), TestServer.request(), TestServer.request("/f", ["TE: trailers"]),
      TestServer.request("/f", ["If-None-Match: *"]),
      "OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n",
    ]
    for request in requests {
      client.send(request)
      _ = client.readAnswer()
      pawl.settle()
      let isIdle = pawl.onLoop { loop in
        loop.connections.members.all.allSatisfy { connection in
          guard let connection = connection as? HTTP1Connection else { return false }
          return connection.busy == nil && connection.input.capacity == 0
        }
      }
      #expect(isIdle == true, "\(request)")
    }
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("what an idle connection is made of stays small, in bytes")
  func sizes() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let clients = (0..<8).map { _ in pawl.connect() }
    pawl.waitUntil("they are there") { pawl.onLoop { $0.connections.members.count } == clients.count }
    let sizes: [[Int]]? = pawl.onLoop { loop in
      loop.connections.members.all.compactMap { $0 as? HTTP1Connection }.map { connection in
        [connection, connection.stream, connection.facts].map { (object: AnyObject) in
          usableSize(Unmanaged.passUnretained(object).toOpaque())
        }
      }
    }
    // Now and then there is a larger place for one than it needs.
    #expect((0..<3).map { kind in sizes?.map { each in each[kind] }.min() } == [104, 88, 72])
    for client in clients { client.close() }
    pawl.stop()
  }

  @Test("a server that ends closes the connections that are left")
  func closesAll() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let client = pawl.connect()
    pawl.waitUntil("it is there") { pawl.onLoop { $0.connections.members.count } == 1 }
    pawl.stop()
    #expect(client.readToEnd().bytes.isEmpty)
  }
}

/// What the allocator has given to an object, in bytes.
@_silgen_name("malloc_usable_size") private func usableSize(_ object: UnsafeMutableRawPointer) -> Int
