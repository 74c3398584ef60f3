import PawlLoop
import PawlTestKit
import Testing

@testable import PawlBench

@Suite("Answers over HTTP/1.1 are checked", .timeLimit(.minutes(1))) struct HTTP1ConnectionTests {
  private static let content = "0123456789"

  private func run(_ answer: OriginStep..., operations: UInt64 = 1) throws -> Tally {
    let server = ScriptedOrigin(.tcp, [.expect(Performing.request)] + answer)
    let tally = try Performing.run(
      Performing.settings(.hit), server, reference: Array(Self.content.utf8), operations: operations)
    #expect(server.finish() == [])
    return tally
  }

  private func failures(_ answer: String) throws -> [Failure: UInt64] { try run(.send(answer)).failures }

  @Test("the right one is complete: in one piece, byte by byte, chunked, and up to the end")
  func right() throws {
    let whole = Performing.answer(Self.content)
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n"
    let unmeasured = "HTTP/1.1 200 OK\r\n\r\n\(Self.content)"
    for answer in [whole, chunked, unmeasured] {
      for step in [OriginStep.send(answer), .sendEachByte(answer)] {
        let tally = try run(step)
        #expect(tally.completed == 1 && tally.failures == [:], "\(answer)")
        #expect(tally.verified == 10 && tally.received == 10 && tally.latency.total == 1 && tally.firstByte.total == 1)
      }
    }
  }

  @Test("a 1xx is not the answer")
  func interim() throws {
    let tally = try run(
      .sendEachByte("HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" + Performing.answer(Self.content)))
    #expect(tally.completed == 1)
  }

  @Test("a single wrong byte is found")
  func wrongByte() throws {
    #expect(try failures(Performing.answer("0123456788")) == [.content: 1])
  }

  @Test("too short and too long are wrong, also where the framing agrees")
  func wrongLength() throws {
    #expect(try failures(Performing.answer("012345678")) == [.length: 1])
    #expect(try failures(Performing.answer("01234567890")) == [.length: 1])
    #expect(try failures("HTTP/1.1 200 OK\r\n\r\n012345678") == [.length: 1])
  }

  @Test("another status is told as such")
  func status() throws {
    #expect(try failures("HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno") == [.status(503): 1])
    #expect(try failures("HTTP/1.1 304 No\r\n\r\n") == [.status(304): 1])
  }

  @Test("a connection that ends inside the answer is a cut, in its head and in its content")
  func cut() throws {
    let answer = Performing.answer(Self.content)
    for count in [0, 1, 20, answer.utf8.count - 1] {
      #expect(try failures(String(decoding: answer.utf8.prefix(count), as: UTF8.self)) == [.cut: 1], "\(count)")
    }
  }

  @Test("what is no HTTP is told")
  func noHTTP() throws {
    #expect(try failures("SSH-2.0-OpenSSH_9.2\r\n") == [.syntax: 1])
    #expect(try failures("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n") == [.syntax: 1])
  }

  @Test("one connection carries request after request, the same bytes each time")
  func keeps() throws {
    let exchange: [OriginStep] = [.expect(Performing.request), .send(Performing.answer(Self.content))]
    let server = ScriptedOrigin(.tcp, exchange + exchange + exchange + [.expectEnd])
    let tally = try Performing.run(
      Performing.settings(.hit), server, reference: Array(Self.content.utf8), operations: 3)
    #expect(server.finish() == [] && tally.completed == 3 && tally.connections == 1 && tally.exchanges == 3)
  }

  @Test("a kept connection that was closed meanwhile is opened again, and nothing is wrong")
  func reopens() throws {
    let exchange: [OriginStep] = [.expect(Performing.request), .send(Performing.answer(Self.content))]
    let closing = Performing.answer(Self.content, fields: "Connection: close\r\n")
    let server = ScriptedOrigin(.tcp, exchange, [.expect(Performing.request), .send(closing)], exchange)
    let tally = try Performing.run(
      Performing.settings(.hit), server, reference: Array(Self.content.utf8), operations: 3)
    #expect(server.finish() == [] && tally.completed == 3 && tally.failures == [:] && tally.connections == 3)
  }

  @Test("a server that falls silent is given up after the time for it")
  func timeout() throws {
    var settings = try Performing.settings(.hit)
    settings.timeout = 0.01
    let server = ScriptedOrigin(.tcp, [.expect(Performing.request), .send("HTTP/1.1 200"), .readToEnd])
    let tally = try Performing.run(settings, server, reference: Array(Self.content.utf8))
    #expect(server.finish() == [] && tally.failures == [.timeout: 1])
  }
}
