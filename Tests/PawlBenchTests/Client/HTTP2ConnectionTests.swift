import PawlLoop
import PawlTestKit
import Testing

@testable import PawlBench

@Suite("Answers over HTTP/2 are checked", .timeLimit(.minutes(1))) struct HTTP2ConnectionTests {
  private static let content = "0123456789"
  private static let preface = OriginStep.expect("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

  private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), type, flags, 0, 0, 0, stream] + payload
  }

  /// `:status: 200` is entry 8 of the static table; others are spelled out (RFC 7541 appendix A).
  private static func head(_ stream: UInt8, status: String = "200", ends: Bool = false) -> [UInt8] {
    let block: [UInt8] = status == "200" ? [0x88] : [0x08, 3] + Array(status.utf8)
    return frame(1, ends ? 5 : 4, stream, block)
  }

  private static func answer(_ stream: UInt8, _ content: String = content) -> [UInt8] {
    head(stream) + frame(0, 1, stream, Array(content.utf8))
  }

  /// The request that comes again: all but its path is in the tables by then (RFC 7541 §6.1).
  private static let third: [UInt8] = [0, 0, 7, 1, 5, 0, 0, 0, 3, 0x82, 0x86, 0xbe, 4, 2, 0x2f, 0x78]

  private func run(
    streams: Int = 1, operations: UInt64 = 1, _ scripts: [OriginStep]...
  ) throws -> (tally: Tally, server: ScriptedOrigin) {
    var settings = try Performing.settings(.hit)
    (settings.isHTTP2, settings.streams, settings.timeout) = (true, streams, 5)
    let server = ScriptedOrigin(.tcp, scripts: scripts)
    let tally = try Performing.run(settings, server, reference: Array(Self.content.utf8), operations: operations)
    return (tally, server)
  }

  /// Preface, SETTINGS with two entries, WINDOW_UPDATE; then the request's head. Its size is known where the test is.
  private static let opening: [OriginStep] = [preface, .read(9 + 12 + 13), .read(9), .send(frame(4, 0, 0))]

  @Test("the right one is complete, byte by byte")
  func right() throws {
    let (tally, server) = try run(Self.opening + [.sendEachByte(Self.answer(1)), .readToEnd])
    #expect(server.finish() == [] && tally.completed == 1 && tally.verified == 10 && tally.failures == [:])
    #expect(tally.firstByte.total == 1 && tally.connections == 1)
  }

  @Test("the request says what it is")
  func request() throws {
    let (_, server) = try run(Self.opening + [.send(Self.answer(1)), .readToEnd])
    #expect(server.finish() == [])
    let bytes = server.received[0].dropFirst(24 + 34)
    // HEADERS on stream 1 that end head and stream; GET and http are of the static table.
    #expect(Array(bytes.prefix(9).dropFirst(3)) == [1, 5, 0, 0, 0, 1])
    #expect(bytes.dropFirst(9).starts(with: [0x82, 0x86]))
  }

  @Test("several streams at once each get their own answer, in any order")
  func streams() throws {
    let answers = Self.answer(5) + Self.head(1) + Self.answer(3) + Self.frame(0, 1, 1, Array(Self.content.utf8))
    let (tally, server) = try run(
      streams: 3, operations: 3, Self.opening + [.send(answers), .readToEnd])
    #expect(server.finish() == [] && tally.completed == 3 && tally.connections == 1 && tally.failures == [:])
  }

  @Test("wrong bytes, another status, and an answer that ends too early are told")
  func wrong() throws {
    func failures(_ bytes: [UInt8]) throws -> [Failure: UInt64] {
      let (tally, server) = try run(Self.opening + [.send(bytes), .readToEnd])
      #expect(server.finish() == [])
      return tally.failures
    }
    #expect(try failures(Self.answer(1, "0123456788")) == [.content: 1])
    #expect(try failures(Self.head(1, status: "503", ends: true)) == [.status(503): 1])
    #expect(try failures(Self.answer(1, "01234")) == [.length: 1])
    #expect(try failures(Self.head(1) + Self.frame(3, 0, 1, [0, 0, 0, 2])) == [.cut: 1])
  }

  @Test("a connection that ends inside an answer is a cut")
  func cut() throws {
    let (tally, server) = try run(Self.opening + [.send(Self.head(1))])
    #expect(server.finish() == [] && tally.failures == [.cut: 1])
  }

  @Test("what was refused unseen, or came after GOAWAY, is asked for again")
  func again() throws {
    let refused = Self.frame(3, 0, 1, [0, 0, 0, 7])
    let first = try run(Self.opening + [.send(refused), .readUntil(Self.third), .send(Self.answer(3)), .readToEnd])
    #expect(first.server.finish() == [] && first.tally.completed == 1 && first.tally.failures == [:])
    let leaving = Self.answer(1) + Self.frame(7, 0, 0, [0, 0, 0, 1, 0, 0, 0, 0])
    let second = try run(
      operations: 2, Self.opening + [.send(leaving), .readToEnd], Self.opening + [.send(Self.answer(1)), .readToEnd])
    #expect(second.server.finish() == [] && second.tally.completed == 2 && second.tally.connections == 2)
  }
}
