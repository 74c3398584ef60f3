import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The tag of what is fetched anew") struct DownloadExchangeNamingTests {
  private func answer(_ text: String, length: Int? = nil) -> OriginStep {
    .send("HTTP/1.1 200 OK\r\nContent-Length: \(length ?? text.utf8.count)\r\n\r\n\(text)")
  }

  @Test("short and the same: the tag stays, and is the only one")
  func same() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, answer("0123456789"), .expectHead, answer("0123456789"), .expectHead, answer("0123456789"),
        .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let tags = (0..<3).compactMap { _ in pawl.get()["ETag"] }
    #expect(tags.count == 3 && Set(tags).count == 1)
    #expect(pawl.stored()?.body.tags.count == 1)
    #expect(pawl.stop() == [])
  }

  @Test("short and another: it has another tag, and the old one names nothing of it")
  func other() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, answer("0123456789"), .expectHead, answer("0123456780"), .readToEnd])
    let pawl = try TestServer(origin)
    let (first, second) = (pawl.get(), pawl.get())
    #expect(first["ETag"] != nil && second["ETag"] != nil && first["ETag"] != second["ETag"])
    #expect(second.text == "0123456780" && pawl.stored()?.body.tags.count == 1)
    #expect(pawl.stop() == [])
  }

  @Test("one that is long in coming does not wait: it is told a new tag, which becomes an alias")
  func slow() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, answer("0123456789"), .expectHead, answer("01234", length: 10), .wait(gate), .send("56789"),
        .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let old = try #require(pawl.get()["ETag"])
    let client = pawl.connect()
    client.send(TestServer.request())
    let begun = pawl.advancing { client.readHead() }
    gate.open()
    #expect(begun.contains("ETag: \"pawl-") && !begun.contains(old))
    pawl.waitFor("refetch-compared", count: 1)
    #expect(pawl.stored()?.body.tags.first.map { "\"\(String(decoding: $0.tag, as: UTF8.self))\"" } == old)
    #expect(pawl.stored()?.body.tags.count == 2)
  }
}
