/// How the octets of a message come in. Every wire test runs with each of them: where a network cuts must not
/// change what a message means.
package enum Fragmenter: String, CaseIterable, Sendable {
  case whole, byteByByte, sevens

  /// How many octets have come in after each piece, the last time all of them.
  package func arrivals(_ count: Int) -> [Int] {
    switch self {
    case .whole: [count]
    case .byteByByte: count == 0 ? [0] : Array(1...count)
    case .sevens: Array(stride(from: 7, to: count, by: 7)) + [count]
    }
  }

  package func pieces(_ octets: [UInt8]) -> [[UInt8]] {
    var start = 0
    return arrivals(octets.count).map { end in
      defer { start = end }
      return Array(octets[start..<end])
    }
  }
}
