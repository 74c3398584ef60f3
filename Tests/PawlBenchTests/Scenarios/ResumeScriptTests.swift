import PawlTestKit
import Testing

@testable import PawlBench

@Suite("Downloads that are resumed", .timeLimit(.minutes(1))) struct ResumeScriptTests {
  private static let content = OriginStep.pattern(from: 0, count: 100_000)
  private static let first = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 100000\r\n\r\n"

  private static func lines(_ received: [UInt8]) -> [String] {
    String(decoding: received, as: UTF8.self).split(separator: "\r\n").map(String.init)
  }

  /// Where the request wants the download to go on.
  private static func start(_ received: [UInt8]) -> Int {
    let line = lines(received).first { $0.hasPrefix("Range: bytes=") } ?? ""
    return Int(line.dropFirst(13).dropLast()) ?? 0
  }

  private static func rest(_ received: [UInt8]) -> [UInt8] {
    let start = start(received)
    let head =
      "HTTP/1.1 206 P\r\nContent-Range: bytes \(start)-99999/100000\r\nContent-Length: \(100_000 - start)\r\n\r\n"
    return Array(head.utf8) + content[start...]
  }

  private func run(_ interruptions: Int, _ scripts: [OriginStep]...) throws -> (Tally, ScriptedOrigin) {
    let server = ScriptedOrigin(.tcp, scripts: scripts)
    let tally = try Performing.run(
      Performing.settings(.resume(interruptions: interruptions)), server, reference: Self.content)
    return (tally, server)
  }

  @Test("asks for the rest on condition that it is of the same, and joins both")
  func resumes() throws {
    let (tally, server) = try run(
      1, [.expectHead, .send(Array(Self.first.utf8) + Self.content), .readToEnd],
      [.expectHead, .sendMade(Self.rest), .readToEnd])
    _ = server.finish()
    #expect(tally.completed == 1 && tally.interruptions == 1 && tally.failures == [:] && tally.connections == 2)
    #expect(tally.verified == 100_000 && tally.again == 0 && tally.restarts == 0)
    let second = try #require(server.received.dropFirst().first)
    let start = Self.start(second)
    #expect(start > 0 && start < 100_000)
    #expect(
      Self.lines(second) == [
        "GET /x HTTP/1.1", "Host: a.example", "Range: bytes=\(start)-", "If-Range: \"v1\"",
      ])
  }

  @Test("a break that the server makes is resumed, too")
  func survives() throws {
    let (tally, server) = try run(
      0, [.expectHead, .send(Array(Self.first.utf8) + Self.content[..<5000])],
      [.expectHead, .sendMade(Self.rest), .readToEnd])
    #expect(server.finish() == [])
    #expect(tally.completed == 1 && tally.survived == 1 && tally.interruptions == 0)
    #expect(Self.start(server.received[1]) == 5000)
  }

  @Test("a date is good where there is no strong tag; without either nothing is promised")
  func validators() throws {
    for (fields, wanted) in [("ETag: W/\"v\"\r\nLast-Modified: D\r\n", ["If-Range: D"]), ("ETag: W/\"v\"\r\n", [])] {
      let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 100000\r\n\r\n"
      let (tally, server) = try run(
        0, [.expectHead, .send(Array(head.utf8) + Self.content[..<7])], [.expectHead, .sendMade(Self.rest), .readToEnd])
      #expect(server.finish() == [] && tally.completed == 1)
      #expect(Self.lines(server.received[1]).dropFirst(3) == wanted[...])
    }
  }

  @Test("a server that sends all of it again makes the download longer, not wrong")
  func restarts() throws {
    let (tally, server) = try run(
      0, [.expectHead, .send(Array(Self.first.utf8) + Self.content[..<5000])],
      [.expectHead, .send(Array(Self.first.utf8) + Self.content), .readToEnd])
    #expect(server.finish() == [] && tally.completed == 1 && tally.restarts == 1 && tally.again == 5000)
  }

  @Test("another place, other bytes, or an end too early are wrong")
  func wrong() throws {
    let broken: [OriginStep] = [.expectHead, .send(Array(Self.first.utf8) + Self.content[..<5000])]
    func failures(_ answer: [UInt8]) throws -> [Failure: UInt64] {
      let (tally, server) = try run(0, broken, [.expectHead, .send(answer), .readToEnd])
      _ = server.finish()
      return tally.failures
    }
    let place = "HTTP/1.1 206 P\r\nContent-Range: bytes 4999-99999/100000\r\n\r\n"
    #expect(try failures(Array(place.utf8)) == [.range: 1])
    let head = "HTTP/1.1 206 P\r\nContent-Range: bytes 5000-99999/100000\r\nContent-Length: 95000\r\n\r\n"
    #expect(try failures(Array(head.utf8) + Self.content[..<95_000]) == [.content: 1])
    #expect(try failures(Array("HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n".utf8)) == [.status(416): 1])
  }

  @Test("breaks without progress end it")
  func givesUp() throws {
    let scripts = [[OriginStep]](repeating: [.expectHead], count: ResumeScript.attemptLimit + 1)
    let server = ScriptedOrigin(.tcp, scripts: scripts)
    let tally = try Performing.run(Performing.settings(.resume(interruptions: 0)), server, reference: Self.content)
    #expect(server.finish() == [] && tally.failures == [.cut: 1] && tally.survived == 5)
  }
}
