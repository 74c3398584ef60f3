/// How the bytes of a message come in. Every wire test runs with each of them: where a network cuts must not
/// change what a message means.
package enum Fragmenter: String, CaseIterable, Sendable {
  case whole, byteByByte, sevens

  /// How many bytes have come in after each piece, the last time all of them.
  package func arrivals(_ count: Int) -> [Int] {
    switch self {
    case .whole: [count]
    case .byteByByte: count == 0 ? [0] : Array(1...count)
    case .sevens: Array(stride(from: 7, to: count, by: 7)) + [count]
    }
  }

  package func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
    var start = 0
    return arrivals(bytes.count).map { end in
      defer { start = end }
      return Array(bytes[start..<end])
    }
  }
}
