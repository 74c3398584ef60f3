import Testing

@testable import PawlWire

@Suite("What a client may send for its streams (RFC 9113 §5.1)") struct HTTP2PeerStreamsTests {
  typealias Row = ([(Int32, String)], String)

  /// Runs steps, and says what the last one is.
  private func verdict(_ steps: [(Int32, String)]) -> String {
    var streams = HTTP2PeerStreams(maxStreams: 2)
    var last: HTTP2ErrorCode?
    for (stream, step) in steps {
      switch step {
      case "HEADERS": last = streams.headers(stream, isEnd: false)
      case "HEADERS end": last = streams.headers(stream, isEnd: true)
      case "DATA": last = streams.data(stream, isEnd: false)
      case "DATA end": last = streams.data(stream, isEnd: true)
      case "RST": streams.reset(stream)
      default: streams.abandon(stream)
      }
    }
    return last.map { "\($0)" } ?? "fine"
  }

  private static let rows: [Row] = [
    ([(1, "HEADERS"), (1, "DATA"), (1, "DATA end")], "fine"),
    ([(1, "HEADERS"), (1, "DATA"), (1, "HEADERS end")], "fine"),
    ([(1, "HEADERS end"), (1, "DATA")], "streamClosed"),
    ([(1, "HEADERS end"), (1, "HEADERS end")], "streamClosed"),
    ([(1, "HEADERS"), (1, "DATA end"), (1, "DATA")], "streamClosed"),
    ([(1, "HEADERS"), (1, "RST"), (1, "DATA")], "streamClosed"),
    ([(1, "HEADERS"), (1, "RST"), (1, "HEADERS end")], "streamClosed"),
    ([(1, "HEADERS"), (1, "abandon"), (1, "DATA")], "fine"),
    ([(1, "HEADERS"), (1, "abandon"), (1, "HEADERS end")], "fine"),
    ([(1, "HEADERS"), (1, "RST"), (1, "abandon"), (1, "DATA")], "streamClosed"),
    ([(5, "HEADERS end"), (3, "HEADERS end")], "protocolError"),
    ([(5, "HEADERS end"), (3, "DATA")], "streamClosed"),
    // Others say what is wrong with these.
    ([(1, "DATA")], "fine"), ([(0, "HEADERS")], "fine"), ([(2, "HEADERS")], "fine"), ([(0, "DATA")], "fine"),
  ]

  @Test("depends on what it has said before", arguments: rows)
  func verdicts(_ steps: [(Int32, String)], _ expected: String) {
    #expect(verdict(steps) == expected)
  }

  @Test("of streams that pawl has reset, the latest are known; of open ones, twice the limit and as many")
  func bounds() {
    var streams = HTTP2PeerStreams(maxStreams: 2)
    for stream in (0..<257).map({ Int32(2 * $0 + 1) }) {
      _ = streams.headers(stream, isEnd: false)
      streams.abandon(stream)
    }
    #expect(streams.data(1, isEnd: false) == .streamClosed)
    #expect(streams.data(3, isEnd: false) == nil)
    streams = HTTP2PeerStreams(maxStreams: 2)
    for stream in (0..<261).map({ Int32(2 * $0 + 1) }) { _ = streams.headers(stream, isEnd: false) }
    #expect(streams.data(1, isEnd: false) == .streamClosed)
    #expect(streams.data(3, isEnd: false) == nil)
  }
}
