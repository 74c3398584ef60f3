import PawlCacheStore
import PawlTestKit
import Testing

@testable import PawlServer

/// A body of unknown length, longer than what `max-unknown` lets be kept, that several clients read while it comes: 256 chunks of 64 KiB.
enum StreamedBody {
  static let content = OriginStep.pattern(from: 0, count: chunk * count)
  private static let (chunk, count) = (1 << 16, 256)

  /// - Parameters:
  ///   - gate: before the second chunk.
  ///   - place: of the byte that is another one.
  static func script(waitingFor gate: Gate? = nil, changing place: Int? = nil) -> [OriginStep] {
    var script: [OriginStep] = [
      .expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ]
    for index in 0..<count {
      var bytes = Array(content[index * chunk..<(index + 1) * chunk])
      if let place, bytes.indices.contains(place - index * chunk) { bytes[place - index * chunk] ^= 1 }
      script += [.send("10000\r\n"), .send(bytes), .send("\r\n")]
      if index == 0, let gate { script.append(.wait(gate)) }
    }
    return script + [.send("0\r\n\r\n"), .readToEnd]
  }
}

extension TestServer {
  /// A server that keeps less of such a body than it has.
  static func streaming(_ origin: ScriptedOrigin) throws -> TestServer {
    try TestServer(origin) { $0.site = "max-unknown = 256K" }
  }

  /// Who reads the one body that is being fetched.
  var readers: StoredBody.Readers? { onLoop { $0.downloads.fills.values.first?.body.readers } ?? nil }

  /// A client that reads slowly and one that reads at once, of the same body.
  func connectSlowAndFast() -> (slow: ScriptedClient, fast: ScriptedClient) {
    let (slow, fast) = (connect(receiveBuffer: 4096), connect())
    for client in [slow, fast] { client.send(TestServer.request()) }
    waitUntil("both read") { readers?.count == 2 }
    return (slow, fast)
  }

  /// The fastest of those who read is 1 MiB in front of the slowest: it gets no more until that one has read.
  func waitUntilTheFastWaits() {
    waitUntil("all wait for the slow one") {
      guard let readers, let slowest = readers.slowest, let fastest = readers.fastest else { return false }
      return fastest - slowest >= 1 << 20
    }
  }
}
