import PawlCacheStore
import PawlCoding
import PawlDisk
import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A content compressed into its form") struct FormEncodingTests {
  private static let content = (0..<8000).flatMap { Array("line \($0 * 7919 % 8000)\n".utf8) }

  private func take(_ encoding: FormEncoding, _ range: Range<Int>) throws {
    var failure: FormEncoding.Failure?
    Array(Self.content[range]).withUnsafeBytes { bytes in
      do throws(FormEncoding.Failure) { try encoding.take(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private func bytes(_ body: StoredBody) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(body.held.prefix))
    let count = bytes.withUnsafeMutableBytes { body.readUnverified(0..<UInt64($0.count), into: $0) }
    #expect(count == bytes.count)
    return bytes
  }

  /// An empty body that a form can be written to.
  private func body(_ bench: ServerBench) throws -> StoredBody { try bench.stored(total: nil, held: 0).body }

  /// The first `held` bytes of `bytes`.
  private func body(_ bench: ServerBench, holding bytes: ArraySlice<UInt8>) throws -> StoredBody {
    let body = try body(bench)
    var failure: StoreError?
    Array(bytes).withUnsafeBytes { bytes in
      do throws(StoreError) { try body.write(bytes, at: 0) } catch { failure = error }
    }
    if let failure { throw failure }
    return body
  }

  private func whole(_ bench: ServerBench, _ coding: ContentCoding, flushes: [Int] = []) throws -> StoredBody {
    let body = try body(bench)
    let encoding = try FormEncoding(coding, into: body)
    var start = 0
    for place in flushes {
      try take(encoding, start..<place)
      try encoding.flush()
      #expect(!encoding.holdsBack)
      start = place
    }
    try take(encoding, start..<Self.content.count)
    try encoding.finish()
    #expect(encoding.written == body.held.prefix && encoding.consumed == UInt64(Self.content.count))
    return body
  }

  @Test("is the same however the content comes", arguments: ContentCoding.allCases)
  func pieces(_ coding: ContentCoding) throws {
    let bench = try ServerBench()
    let one = bytes(try whole(bench, coding))
    let body = try body(bench)
    let encoding = try FormEncoding(coding, into: body)
    for start in stride(from: 0, to: Self.content.count, by: 1000) {
      try take(encoding, start..<min(start + 1000, Self.content.count))
    }
    try encoding.finish()
    #expect(bytes(body) == one && one.count < Self.content.count / 2)
  }

  @Test("is made again over what is held of it, with its flushes", arguments: ContentCoding.allCases)
  func again(_ coding: ContentCoding) throws {
    let bench = try ServerBench()
    let flushes = [1000, 5000, 5001]
    let first = try whole(bench, coding, flushes: flushes)
    let plain = bytes(try whole(bench, coding))
    let all = bytes(first)
    #expect(first.flushes == flushes.map(UInt64.init) && all != plain)
    for held in [0, 1, all.count / 2, all.count] {
      let body = try body(bench, holding: all[..<held])
      for place in flushes { #expect(body.noteFlush(at: UInt64(place))) }
      let encoding = try FormEncoding(coding, into: body)
      // It waits elsewhere this time: nothing is flushed before all of that is made again.
      try take(encoding, 0..<3000)
      try encoding.flush()
      try take(encoding, 3000..<6000)
      if held == all.count { try encoding.flush() }
      try take(encoding, 6000..<Self.content.count)
      try encoding.finish()
      #expect(bytes(body) == all && body.flushes.count == flushes.count, "\(held) held")
    }
  }

  @Test("what is held of another content is not gone on with", arguments: ContentCoding.allCases)
  func differs(_ coding: ContentCoding) throws {
    let bench = try ServerBench()
    var other = bytes(try whole(bench, coding))
    other[other.count / 2] ^= 1
    let body = try body(bench, holding: other[...])
    let encoding = try FormEncoding(coding, into: body)
    #expect(throws: FormEncoding.Failure.differs) {
      try take(encoding, 0..<Self.content.count)
      try encoding.finish()
    }
  }

  @Test("a flush without content since the last one adds nothing")
  func empty() throws {
    let bench = try ServerBench()
    let body = try body(bench)
    let encoding = try FormEncoding(.gzip, into: body)
    try encoding.flush()
    #expect(encoding.written == 0 && body.flushes == [])
    try take(encoding, 0..<10)
    try encoding.flush()
    let written = encoding.written
    try encoding.flush()
    #expect(written > 0 && encoding.written == written && body.flushes == [10])
  }
}
