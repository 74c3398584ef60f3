import PawlCacheStore
import PawlCoding
import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A form that is written once, for all who read it") struct FormWriterTests {
  private static let size = 600_000
  private static let content = OriginStep.pattern(from: 0, count: size)
  private static let asking = "Accept-Encoding: gzip"
  private static func head(_ framing: String) -> OriginStep {
    .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Type: text/plain\r\n\(framing)\r\n\r\n")
  }

  private static func coded(flushes: [Int] = []) throws -> [UInt8] {
    let encoder = try ContentEncoder(.gzip, effort: .stored)
    var (output, start) = ([UInt8](), 0)
    for place in flushes + [size] {
      var failure: CodingError?
      Array(content[start..<place]).withUnsafeBytes { bytes in
        do throws(CodingError) { try encoder.encode(bytes, into: &output) } catch { failure = error }
      }
      if let failure { throw failure }
      if place < size { try encoder.flush(into: &output) }
      start = place
    }
    try encoder.finish(into: &output)
    return output
  }

  private func filled() throws -> TestServer {
    let pawl = try TestServer(
      ScriptedOrigin(
        .tcp, [.expectHead, Self.head("Content-Length: \(Self.size)"), .sendPattern(count: Self.size), .readToEnd]))
    #expect(pawl.get().content == Self.content)
    return pawl
  }

  @Test("of a body that is here it has a length, one tag, and no flush")
  func ofWhole() throws {
    let pawl = try filled()
    let answers = (0..<3).map { _ in pawl.get("/f", Self.asking) }
    let expected = try Self.coded()
    for answer in answers {
      #expect(answer.content == expected && answer["Content-Length"] == "\(expected.count)")
      #expect(answer["Content-Encoding"] == "gzip" && answer["ETag"] == answers[0]["ETag"])
    }
    let part = pawl.get("/f", Self.asking, "Range: bytes=100-", "If-Range: \(answers[0]["ETag"] ?? "")")
    #expect(part.status == 206 && part.content == Array(expected[100...]))
    #expect(pawl.stop() == [])
  }

  @Test("of one that comes, its readers get what has come when nothing more does; the next ones the same bytes")
  func flushed() throws {
    let gate = Gate()
    let (half, rest) = (100_000, Self.size - 100_000)
    let pawl = try TestServer(
      ScriptedOrigin(
        .tcp,
        [
          .expectHead, Self.head("Transfer-Encoding: chunked"), .send(String(half, radix: 16) + "\r\n"),
          .sendPattern(count: half), .send("\r\n"), .wait(gate), .send(String(rest, radix: 16) + "\r\n"),
          .sendPattern(from: UInt64(half), count: rest), .send("\r\n0\r\n\r\n"), .readToEnd,
        ]))
    let client = pawl.connect()
    client.send(TestServer.request("/f", [Self.asking]))
    pawl.waitForHeld(UInt64(half))
    pawl.waitUntil("it was flushed") {
      pawl.clock.advance(by: .milliseconds(20))
      return pawl.stored()?.body.form(in: .gzip)?.flushes.last == UInt64(half)
    }
    gate.open()
    let answer = client.readAnswer()
    let flushes = pawl.stored()?.body.form(in: .gzip)?.flushes ?? []
    let expected = try Self.coded(flushes: flushes.map(Int.init))
    #expect(answer.content == expected && answer.isWhole && answer["Transfer-Encoding"] == "chunked")
    let next = pawl.get("/f", Self.asking)
    #expect(next.content == expected && next["Content-Length"] == "\(expected.count)" && next["ETag"] == answer["ETag"])
    #expect(pawl.stop() == [])
  }
}
