import CLinux
import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The body of an origin's answer to an upload") struct ResponseCollectorTests {
  private let pool = WorkerPool(threads: 1)

  private func collect(_ pieces: [Int], limit: UInt64, hasDisk: Bool = true) throws -> ResponseCollector {
    let folder = try TemporaryFolder()
    var collector = ResponseCollector(limit: limit) { hasDisk ? TemporaryFile(in: folder.path, pool: pool) : nil }
    var at: UInt64 = 0
    for count in pieces {
      OriginStep.pattern(from: at, count: count).withUnsafeBytes { collector.append($0) }
      at += UInt64(count)
    }
    return collector
  }

  @Test("up to the limit it is kept in memory", arguments: [0, 1, 9, 10])
  func memory(_ count: Int) throws {
    let collector = try collect(Array(repeating: 1, count: count), limit: 10)
    #expect(!collector.isTruncated && collector.spilled == nil)
    #expect(collector.memory == OriginStep.pattern(from: 0, count: count))
  }

  @Test("beyond it all of it goes to disk for who waits", arguments: [[11], [5, 6, 3], [100, 100]])
  func spilled(_ pieces: [Int]) throws {
    let collector = try collect(pieces, limit: 10)
    let total = pieces.reduce(0, +)
    #expect(collector.isTruncated && collector.memory.isEmpty)
    let spilled = try #require(collector.spilled)
    #expect(spilled.count == UInt64(total) && spilled.isWhole)
    var bytes: [UInt8] = []
    let body = spilled.body
    while case .file(let run) = body.next(limit: 7) {
      bytes += try #require(read(run))
    }
    #expect(bytes == OriginStep.pattern(from: 0, count: total))
  }

  @Test("without disk nothing of a longer one is left")
  func lost() throws {
    let none = try collect([11], limit: 10, hasDisk: false)
    #expect(none.isTruncated && none.spilled == nil && none.memory.isEmpty)
  }

  @Test("of one that broke off the beginning is there, and never taken for all of it", arguments: [0, 5, 10, 11, 100])
  func broken(_ count: Int) throws {
    var collector = try collect([count], limit: 10)
    collector.breakOff()
    #expect(collector.isTruncated && collector.isBeyondUse && collector.memory.isEmpty)
    guard count > 10 else { return #expect(collector.part == OriginStep.pattern(from: 0, count: count)) }
    let spilled = try #require(collector.spilled)
    #expect(collector.part.isEmpty && spilled.count == UInt64(count) && !spilled.isWhole)
  }

  private func read(_ run: FileRun) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: run.count)
    return pread(run.descriptor, &bytes, run.count, off_t(run.offset)) == run.count ? bytes : nil
  }
}
