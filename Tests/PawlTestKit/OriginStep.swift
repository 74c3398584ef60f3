/// One thing a scripted origin does on a connection.
package enum OriginStep: Sendable {
  /// Reads exactly these bytes; others end the script and fail the test.
  case expect([UInt8])
  /// Reads a head up to its empty line, whatever it says.
  case expectHead
  /// Reads that many bytes.
  case read(Int)
  /// Reads until that came at the end of a piece.
  case readUntil([UInt8])
  /// Reads until the peer ends the connection, in order or by a reset.
  case readToEnd
  /// As ``readToEnd``, and nothing may come before the end.
  case expectEnd
  /// Answers each head with these bytes until the peer ends the connection.
  case answerAll([UInt8])
  case send([UInt8])
  /// Each byte by itself; on a unix socket the next one goes when the peer has read the last.
  case sendEachByte([UInt8])
  /// Bytes made of what has come so far on this connection.
  case sendMade(@Sendable ([UInt8]) -> [UInt8])
  /// The bytes of ``pattern(from:count:)`` from `start` on.
  case sendPattern(from: UInt64 = 0, count: Int)
  /// As ``sendPattern(from:count:)``, but stops when the peer takes nothing for 200 ms; writes down how far it came.
  case sendPatternUntilStuck(upTo: Int)
  /// Waits until the test opens the gate.
  case wait(Gate)
  /// Tells the test that the script has come here.
  case open(Gate)
  case run(@Sendable () -> Void)
  /// Ends the own side in order; reading goes on.
  case halfClose
  /// From now on the end of the connection comes without TLS's `close_notify`, as a cut does.
  case withoutNotice
  /// Ends the connection with a reset.
  case reset

  package static func expect(_ text: String) -> OriginStep { .expect(Array(text.utf8)) }
  package static func readUntil(_ text: String) -> OriginStep { .readUntil(Array(text.utf8)) }
  package static func answerAll(_ text: String) -> OriginStep { .answerAll(Array(text.utf8)) }
  package static func send(_ text: String) -> OriginStep { .send(Array(text.utf8)) }
  package static func sendEachByte(_ text: String) -> OriginStep { .sendEachByte(Array(text.utf8)) }

  /// Content that shows where each byte belongs: it repeats itself after 65,521 bytes, a prime, so that pieces
  /// of any usual size are nowhere alike.
  package static func pattern(from start: UInt64, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let at = Int((start + UInt64(bytes.count)) % UInt64(period.count))
      bytes.append(contentsOf: period[at..<min(period.count, at + count - bytes.count)])
    }
    return bytes
  }

  private static let period: [UInt8] = (0..<65_521).map {
    UInt8(truncatingIfNeeded: (UInt64($0) &* 0x9e37_79b9_7f4a_7c15) >> 56)
  }
}
