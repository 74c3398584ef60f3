import PawlTestKit
import Testing

@testable import PawlBench

@Suite("Random ranges are checked", .timeLimit(.minutes(1))) struct RangesScriptTests {
  private static let content = Array("0123456789abcdef".utf8)

  /// The ranges that the request asks for.
  private static func asked(_ received: [UInt8]) -> [ClosedRange<Int>] {
    let text = String(decoding: received, as: UTF8.self)
    guard let line = text.split(separator: "\r\n").last(where: { $0.hasPrefix("Range: bytes=") }) else { return [] }
    return line.dropFirst(13).split(separator: ",").compactMap { range in
      let ends = range.split(separator: "-").compactMap { Int($0) }
      return ends.count == 2 ? ends[0]...ends[1] : nil
    }
  }

  private func run(_ parts: Int, _ answer: @escaping @Sendable ([ClosedRange<Int>]) -> String) throws -> Tally {
    let server = ScriptedOrigin(.tcp, [.expectHead, .sendMade { Array(answer(Self.asked($0)).utf8) }, .readToEnd])
    let tally = try Performing.run(
      Performing.settings(.ranges(size: 3, parts: parts)), server, reference: Self.content)
    #expect(server.finish() == [])
    return tally
  }

  private static func part(_ range: ClosedRange<Int>, length: Int = 16) -> String {
    let content = String(decoding: Self.content[range], as: UTF8.self)
    return "Content-Range: bytes \(range.lowerBound)-\(range.upperBound)/\(length)\r\n"
      + "Content-Length: \(content.utf8.count)\r\n\r\n\(content)"
  }

  private static func multipart(_ ranges: [ClosedRange<Int>]) -> String {
    var body = ""
    for range in ranges {
      let content = String(decoding: Self.content[range], as: UTF8.self)
      body += "--x\r\nContent-Range: bytes \(range.lowerBound)-\(range.upperBound)/16\r\n\r\n\(content)\r\n"
    }
    body += "--x--\r\n"
    return "HTTP/1.1 206 P\r\nContent-Type: multipart/byteranges; boundary=x\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  @Test("the right one is complete")
  func right() throws {
    let tally = try run(1) { "HTTP/1.1 206 P\r\n" + Self.part($0[0]) }
    #expect(tally.completed == 1 && tally.verified == 3)
  }

  @Test("another range, another total, another status and other bytes are wrong")
  func wrong() throws {
    let rows: [(Failure, @Sendable (ClosedRange<Int>) -> String)] = [
      (.range, { "HTTP/1.1 206 P\r\n" + Self.part(($0.lowerBound + 12) % 16...($0.lowerBound + 12) % 16) }),
      (.range, { "HTTP/1.1 206 P\r\n" + Self.part($0, length: 17) }),
      (.range, { "HTTP/1.1 206 P\r\nContent-Length: \($0.count)\r\n\r\n012" }),
      (.status(200), { _ in "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n0123456789abcdef" }),
      (
        .length,
        { "HTTP/1.1 206 P\r\nContent-Range: bytes \($0.lowerBound)-\($0.upperBound)/16\r\nContent-Length: 2\r\n\r\n01" }
      ),
      (
        .content,
        {
          "HTTP/1.1 206 P\r\nContent-Range: bytes \($0.lowerBound)-\($0.upperBound)/16\r\nContent-Length: 3\r\n\r\nxyz"
        }
      ),
    ]
    for (failure, answer) in rows {
      #expect(try run(1) { answer($0[0]) }.failures == [failure: 1], "\(failure)")
    }
  }

  @Test("of several each part is compared; joined ones and a change of order are right")
  func several() throws {
    #expect(try run(3) { Self.multipart($0) }.verified == 9)
    #expect(try run(3) { Self.multipart($0.reversed()) }.completed == 1)
    #expect(try run(3) { Self.multipart([$0[0].lowerBound...$0[2].upperBound]) }.completed == 1)
    #expect(try run(3) { "HTTP/1.1 206 P\r\n" + Self.part($0[0].lowerBound...$0[2].upperBound) }.completed == 1)
  }

  @Test("a part that is missing, or was not asked for, is wrong")
  func missing() throws {
    #expect(try run(3) { Self.multipart(Array($0.dropLast())) }.failures == [.range: 1])
    #expect(try run(2) { Self.multipart([$0[0], $0[0].lowerBound...$0[0].lowerBound, $0[1]]) }.failures == [.range: 1])
    #expect(try run(2) { _ in Self.multipart([]) }.failures == [.range: 1])
  }
}
