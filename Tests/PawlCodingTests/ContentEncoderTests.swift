import PawlHTTP
import Testing

@testable import PawlCoding

@Suite("Compressing content") struct ContentEncoderTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let coding: ContentCoding
    let effort: ContentEncoder.Effort
    var testDescription: String { "\(coding), \(effort)" }
  }

  static let cases = ContentCoding.allCases.flatMap { coding in
    ContentEncoder.Effort.allCases.map { Case(coding: coding, effort: $0) }
  }

  /// Bytes in no order, always the same.
  static func random(_ count: Int) -> [UInt8] {
    var state: UInt64 = 0x9e37_79b9_7f4a_7c15
    return (0..<count).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state >> 32)
    }
  }

  static func text(_ count: Int) -> [UInt8] {
    var text: [UInt8] = []
    var (line, choices) = (0, random(4096))
    while text.count < count {
      line += 1
      choices[line & 4095] &+= UInt8(line & 0xff)
      text += Array("<p class=\"c\(choices[line & 4095])\">line \(line) of \(choices[line * 7 & 4095])</p>\n".utf8)
    }
    return Array(text[..<count])
  }

  /// The content, cut after each of `cuts` bytes in turn.
  static func encode(_ content: [UInt8], _ which: Case, cuts: [Int]) throws -> [UInt8] {
    let encoder = try ContentEncoder(which.coding, effort: which.effort)
    var (output, start, turn) = ([UInt8](), 0, 0)
    while start < content.count {
      let end = min(content.count, start + cuts[turn % cuts.count])
      try content[start..<end].withUnsafeBytes { try encoder.encode($0, into: &output) }
      (start, turn) = (end, turn + 1)
    }
    try encoder.finish(into: &output)
    return output
  }

  @Test("gives what the libraries' decoders make the content of again", arguments: cases)
  func roundTrip(_ which: Case) throws {
    for content in [[], [0x61], Self.text(65_536), Self.text(3 << 20), Self.random(3 << 20)] {
      let output = try Self.encode(content, which, cuts: [16_384])
      let decoded = Decoded(output, as: which.coding)
      #expect(decoded.content == content && decoded.isWhole && !decoded.isBroken, "\(content.count)")
    }
  }

  @Test("makes text much smaller, and what is random hardly larger", arguments: cases)
  func size(_ which: Case) throws {
    #expect(try Self.encode(Self.text(1 << 20), which, cuts: [8192]).count < 1 << 18)
    #expect(try Self.encode(Self.random(1 << 20), which, cuts: [8192]).count < 1 << 20 + 1 << 10)
  }

  @Test("gives the same bytes however the content was cut, and each time", arguments: cases)
  func cuts(_ which: Case) throws {
    let block = ContentEncoder.blockSize
    for content in [Self.text(5000), Self.text(2 * block), Self.text(700_001), Self.random(300_000)] {
      let whole = try Self.encode(content, which, cuts: [content.count])
      for cuts in [[997], [block], [block - 1, 2], [1, 0, block + 1], [100_000, 3, 65_536], [3 * block]] {
        let output = try Self.encode(content, which, cuts: cuts)
        #expect(output == whole, "\(content.count) cut by \(cuts)")
      }
    }
  }

  @Test("does not depend on what the output holds already", arguments: cases)
  func output(_ which: Case) throws {
    let content = Self.random(200_000)
    let whole = try Self.encode(content, which, cuts: [200_000])
    let encoder = try ContentEncoder(which.coding, effort: which.effort)
    var output: [UInt8] = [1, 2, 3]
    output.reserveCapacity(1 << 20)
    try content.withUnsafeBytes { try encoder.encode($0, into: &output) }
    try encoder.finish(into: &output)
    #expect(Array(output[..<3]) == [1, 2, 3] && Array(output[3...]) == whole)
  }

  @Test("what was flushed can be decoded at once, up to there", arguments: cases)
  func flush(_ which: Case) throws {
    let encoder = try ContentEncoder(which.coding, effort: which.effort)
    var (output, content) = ([UInt8](), [UInt8]())
    // One of them empty, some larger than a block, one that fills more than the room of a step.
    let pieces =
      ["data: 1\n\n", "", "data: 2\n\n"].map { Array($0.utf8) }
      + [Self.text(100_000), Self.random(150_000), Array("end".utf8), Self.text(ContentEncoder.blockSize)]
    for piece in pieces {
      try piece.withUnsafeBytes { try encoder.encode($0, into: &output) }
      try encoder.flush(into: &output)
      content += piece
      let decoded = Decoded(output, as: which.coding)
      #expect(decoded.content == content && !decoded.isWhole && !decoded.isBroken, "\(content.count)")
    }
    let flushed = output.count
    try encoder.flush(into: &output)
    #expect(output.count - flushed <= 16)
    try encoder.finish(into: &output)
    let decoded = Decoded(output, as: which.coding)
    #expect(decoded.content == content && decoded.isWhole)
  }

  @Test("that has ended is an error, and says nothing more", arguments: cases)
  func ended(_ which: Case) throws {
    let encoder = try ContentEncoder(which.coding, effort: which.effort)
    var output: [UInt8] = []
    try encoder.finish(into: &output)
    let whole = output
    #expect(throws: CodingError.ended) { try encoder.finish(into: &output) }
    #expect(throws: CodingError.ended) { try encoder.flush(into: &output) }
    #expect(throws: CodingError.ended) { try [1].withUnsafeBytes { try encoder.encode($0, into: &output) } }
    #expect(output == whole)
  }

  @Test("by gzip tells neither a time nor a name nor another system", arguments: ContentEncoder.Effort.allCases)
  func gzipHeader(_ effort: ContentEncoder.Effort) throws {
    let output = try Self.encode([0x61], Case(coding: .gzip, effort: effort), cuts: [1])
    #expect(Array(output[..<10]) == [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
  }
}
