import CLinux
import PawlTestKit
import Testing

@testable import PawlServer

private let mebibyte = 1 << 20

@Suite("A damaged body, mended while it is read") struct MendingReplayTests {
  private static let size = 3 * mebibyte + 7
  private static let content = OriginStep.pattern(from: 0, count: size)

  private static func head(_ fields: String = "", _ length: Int = size) -> OriginStep {
    .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\(fields)Content-Length: \(length)\r\n\r\n")
  }

  private static func whole(_ fields: String = "", _ content: [UInt8] = content) -> [OriginStep] {
    [.expectHead, head(fields), .send(content), .readToEnd]
  }

  private static let strong = "ETag: \"v\"\r\n"

  private static func part(_ range: Range<Int>, of content: [UInt8] = content) -> [OriginStep] {
    let head =
      "HTTP/1.1 206 Partial Content\r\n\(strong)Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)\r\n"
      + "Content-Length: \(range.count)\r\n\r\n"
    return [.expectHead, .send(head), .send(Array(content[range])), .readToEnd]
  }

  /// Stores a body, ends, changes the bytes at `offsets` in its file, and starts anew before an origin with `scripts`.
  private func damaged(
    at offsets: [Int], _ fields: String = "", then scripts: [[OriginStep]],
    _ change: (inout TestServer.Changes) -> Void = { _ in }
  ) throws -> (pawl: TestServer, origin: ScriptedOrigin, tag: String) {
    let folder = try TemporaryFolder()
    let before = try TestServer(ScriptedOrigin(.tcp, Self.whole(fields)), in: folder, change)
    let tag = try #require(before.get()["ETag"])
    before.waitUntil("the body is complete") { before.stored()?.body.isComplete == true }
    let id = try #require(before.stored()?.body.id.hex)
    #expect(before.stop() == [])
    let file = pawl_open("\(folder.path)/cache/bodies/\(id.prefix(2))/\(id)", O_RDWR, 0)
    defer { close(file) }
    for offset in offsets {
      var byte = Self.content[offset] ^ 0x20
      #expect(pwrite(file, &byte, 1, off_t(offset)) == 1)
    }
    let origin = ScriptedOrigin(.tcp, scripts: scripts)
    return (try TestServer(origin, in: folder, change), origin, tag)
  }

  private func asked(_ origin: ScriptedOrigin, _ connection: Int = 0) -> String {
    origin.received.indices.contains(connection) ? String(decoding: origin.received[connection], as: UTF8.self) : ""
  }

  @Test(
    "by range where the origin has ranges: the segment, and its validator",
    arguments: [(5, 0..<mebibyte), (mebibyte + 5, mebibyte..<2 * mebibyte), (size - 1, 3 * mebibyte..<size)])
  func byRange(_ offset: Int, _ range: Range<Int>) throws {
    let (pawl, origin, tag) = try damaged(at: [offset], Self.strong, then: [Self.part(range)])
    let answer = pawl.get()
    #expect(answer.status == 200 && answer.isWhole && answer.content == Self.content && answer["ETag"] == tag)
    #expect(pawl.stop() == [] && origin.acceptedCount == 1)
    let end = range.upperBound == Self.size ? "" : "\(range.upperBound - 1)"
    #expect(asked(origin).contains("\r\nRange: bytes=\(range.lowerBound)-\(end)\r\n"))
    #expect(asked(origin).contains("\r\nIf-Range: \"v\"\r\n"))
    #expect(pawl.events("body-mended").count == 1)
  }

  @Test(
    "from zero where it has none: all that is damaged in one go, and nothing behind it",
    arguments: ["", "ETag: W/\"v\"\r\n"])
  func byReplay(_ fields: String) throws {
    let front = 2 * mebibyte
    let script: [OriginStep] = [.expectHead, Self.head(fields), .send(Array(Self.content[..<front])), .readToEnd]
    let (pawl, origin, tag) = try damaged(at: [3, front - 1], fields, then: [script])
    let answer = pawl.get()
    #expect(answer.status == 200 && answer.isWhole && answer.content == Self.content && answer["ETag"] == tag)
    #expect(pawl.stop() == [] && origin.acceptedCount == 1)
    #expect(!asked(origin).contains("\r\nRange:"))
  }

  @Test(
    "a range of it, named by its tag: the right rest, proven by what was recorded", arguments: [2 * mebibyte + 9, 17])
  func resumed(_ start: Int) throws {
    let (pawl, _, tag) = try damaged(at: [start + 3], then: [Self.whole()])
    let rest = pawl.get("/f", "Range: bytes=\(start)-", "If-Range: \(tag)")
    #expect(rest.status == 206 && rest.content == Array(Self.content[start...]))
    #expect(pawl.stop() == [])
  }

  @Test("an origin that refuses ranges by now is replayed")
  func refusesRanges() throws {
    let offset = 2 * mebibyte + 1
    let (pawl, origin, _) = try damaged(
      at: [offset], Self.strong, then: [Self.whole(Self.strong), Self.whole(Self.strong)])
    let answer = pawl.advancing { pawl.get() }
    #expect(answer.isWhole && answer.content == Self.content)
    _ = pawl.stop()
    #expect(asked(origin).contains("\r\nRange:") && !asked(origin, 1).contains("\r\nRange:"))
  }

  @Test("goes on when the origin breaks off in the middle")
  func breaks() throws {
    let half: [OriginStep] = [.expectHead, Self.head(), .send(Array(Self.content[..<(mebibyte + 1000)])), .reset]
    let (pawl, origin, _) = try damaged(at: [mebibyte + 9], then: [half, Self.whole()])
    let answer = pawl.advancing { pawl.get() }
    #expect(answer.isWhole && answer.content == Self.content)
    #expect(pawl.stop() == [] && origin.acceptedCount == 2)
  }

  @Test("other content: before the head the client gets that, whole")
  func changedBefore() throws {
    var other = Self.content
    other[100] ^= 1
    let (pawl, _, _) = try damaged(at: [9], then: [Self.whole("", other), Self.whole("", other)])
    let answer = pawl.get()
    #expect(answer.status == 200 && answer.isWhole && answer.content == other)
    #expect(pawl.events("content-changed").count == 1)
    _ = pawl.stop()
  }

  @Test(
    "other content: behind the head it ends visibly, before the first byte that is not proven",
    arguments: ["", strong])
  func changedBehind(_ fields: String) throws {
    let offset = 2 * mebibyte + 100
    var other = Self.content
    other[offset + 5] ^= 1
    let script =
      fields.isEmpty ? Self.whole("", other) : Self.part(2 * mebibyte..<3 * mebibyte, of: other)
    let (pawl, _, _) = try damaged(at: [offset], fields, then: [script, Self.whole(fields, other)])
    let answer = pawl.get()
    #expect(answer.status == 200 && !answer.isWhole)
    #expect(answer.content == Array(Self.content[..<(2 * mebibyte)]))
    #expect(pawl.events("content-changed").count == 1)
    let next = pawl.get()
    #expect(next.isWhole && next.content == other)
    _ = pawl.stop()
  }

  @Test("without the origin: 502 before the head, a visible end behind it; what is held stays")
  func originIsDown() throws {
    for (offset, status) in [(9, 502), (2 * mebibyte + 9, 200)] {
      let (pawl, _, _) = try damaged(at: [offset], then: []) { $0.upstream = "resume-attempts = 1" }
      let answer = pawl.advancing { pawl.get() }
      #expect(answer.status == status && answer.isWhole == (status == 502))
      if status == 502 { #expect(answer["Proxy-Status"]?.contains("pawl") == true) }
      if status == 200 { #expect(answer.content == Array(Self.content[..<(2 * mebibyte)])) }
      #expect(pawl.stored()?.body.lostRun(at: UInt64(offset)) != nil)
      _ = pawl.stop()
    }
  }

  @Test("only-if-cached asks nobody for what is damaged")
  func onlyIfCached() throws {
    let (pawl, origin, _) = try damaged(at: [9], then: [])
    #expect(pawl.get("/f", "Cache-Control: only-if-cached").status == 504)
    #expect(pawl.stop() == [] && origin.acceptedCount == 0)
  }

  @Test("many readers at once: one origin request, each the whole")
  func crowd() throws {
    let (pawl, origin, _) = try damaged(at: [9, 3 * mebibyte], then: [Self.whole()])
    let clients = (0..<6).map { _ in pawl.connect() }
    for client in clients { client.send(TestServer.request()) }
    for client in clients { #expect(client.readAnswer().content == Self.content) }
    for client in clients { client.close() }
    #expect(pawl.stop() == [] && origin.acceptedCount == 1)
  }

  @Test("a file that is cut under the shortest way is read on from the origin", arguments: [0, 100_000])
  func cutUnderHotPath(_ size: Int) throws {
    let total = 300_000
    let content = Array(Self.content[..<total])
    let script: [OriginStep] = [.expectHead, Self.head("Connection: close\r\n", total), .send(content)]
    let pawl = try TestServer(ScriptedOrigin(.tcp, script, script))
    for _ in 0..<2 { #expect(pawl.get().content == content) }
    let id = try #require(pawl.stored()?.body.id.hex)
    // Time stands still: nobody looks before the bytes are missing.
    #expect(truncate("\(pawl.folder.path)/cache/bodies/\(id.prefix(2))/\(id)", off_t(size)) == 0)
    let answer = pawl.get()
    #expect(answer.isWhole && answer.content == content)
    #expect(pawl.events("body-mended").count == 1)
    #expect(pawl.record(3, "bytes", "bytes_from_cache", "bytes_from_origin") == ["\(total)", "\(size)", "\(total)"])
    #expect(pawl.stop() == [])
  }

  @Test("a file that is cut and cannot be mended ends its readers, at once")
  func cutForGood() throws {
    let pawl = try TestServer(ScriptedOrigin(.tcp, Self.whole())) { $0.upstream = "resume-attempts = 1" }
    #expect(pawl.get().isWhole)
    pawl.waitUntil("the body is complete") { pawl.stored()?.body.isComplete == true }
    let id = try #require(pawl.stored()?.body.id.hex)
    let client = pawl.connect(receiveBuffer: 4096)
    client.send(TestServer.request())
    _ = client.readHead()
    #expect(truncate("\(pawl.folder.path)/cache/bodies/\(id.prefix(2))/\(id)", off_t(2 * mebibyte)) == 0)
    pawl.clock.advance(by: .milliseconds(5))
    let rest = pawl.advancing { client.readToEnd() }.bytes
    #expect(rest.count < Self.size && rest == Array(Self.content[..<rest.count]))
    _ = pawl.stop()
  }
}
