import PawlCacheStore
import PawlCoding
import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Content that is compressed on its way") struct CodedStreamTests {
  /// Gives what a test says, piece by piece.
  private final class Script: BodySource {
    var pieces: [BodyPiece]
    var isFinished = false
    var returned = 0
    weak var consumer: (any BodyConsumer)?
    init(_ pieces: [BodyPiece]) { self.pieces = pieces }
    func next(limit: Int) -> BodyPiece { pieces.isEmpty ? .later : pieces.removeFirst() }
    func takeBack(_ run: FileRun) -> Bool {
      returned += 1
      return returned == 1
    }
    func finish() { isFinished = true }
  }

  private final class Ready: BodyConsumer {
    var count = 0
    func bodyIsReady() { count += 1 }
  }

  private static let content =
    Array("one line of it, and another one; ".utf8) + OriginStep.pattern(from: 0, count: 3000)

  private func piece(_ range: Range<Int>) -> BodyPiece { .memory(Self.content, range) }

  private func stream(_ source: Script, _ coding: ContentCoding, _ bench: ServerBench) throws -> CodedStream {
    let share = try #require(bench.services.shared.codingMemory.take(for: coding, isKept: false))
    return try CodedStream(source, in: coding, share: share, on: bench.services)
  }

  /// What comes until it waits, ends or fails, and which of these.
  private func read(_ stream: CodedStream, limit: Int = 100) -> (bytes: [UInt8], then: String) {
    var bytes: [UInt8] = []
    while true {
      switch stream.next(limit: limit) {
      case .memory(let more, let range):
        #expect(range.count <= limit && !range.isEmpty)
        bytes += more[range]
      case .file: return (bytes, "file")
      case .later: return (bytes, "later")
      case .soon: return (bytes, "soon")
      case .end: return (bytes, "end")
      case .failed(let end): return (bytes, end.reason)
      }
    }
  }

  /// The same by the encoder alone, with flushes behind these places.
  private func coded(_ coding: ContentCoding, flushes: [Int] = [], isWhole: Bool = true) throws -> [UInt8] {
    let encoder = try ContentEncoder(coding, effort: .streamed)
    var (output, start) = ([UInt8](), 0)
    for place in flushes + (isWhole ? [Self.content.count] : []) {
      let part = Array(Self.content[start..<place])
      var failure: CodingError?
      part.withUnsafeBytes { bytes in
        do throws(CodingError) { try encoder.encode(bytes, into: &output) } catch { failure = error }
      }
      if let failure { throw failure }
      if place == Self.content.count && isWhole {
        try encoder.finish(into: &output)
      } else {
        try encoder.flush(into: &output)
      }
      start = place
    }
    return output
  }

  @Test("all of it, in pieces as large as its reader wants, and its end", arguments: ContentCoding.allCases)
  func whole(_ coding: ContentCoding) throws {
    let bench = try ServerBench()
    let stream = try stream(Script([piece(0..<40), piece(40..<Self.content.count), .end]), coding, bench)
    let (bytes, then) = read(stream)
    let expected = try coded(coding)
    #expect(then == "end" && bytes == expected)
    #expect(read(stream).then == "end" && bench.services.shared.codingMemory.count == 0)
  }

  @Test("what has come goes out when nothing more is there, once", arguments: ContentCoding.allCases)
  func flush(_ coding: ContentCoding) throws {
    let bench = try ServerBench()
    let source = Script([piece(0..<40), .soon, piece(40..<50), .later, .later, .later, piece(50..<90), .later])
    let stream = try stream(source, coding, bench)
    #expect(read(stream) == ([], "soon"))
    let first = read(stream)
    let start = try coded(coding, flushes: [50], isWhole: false)
    #expect(first.then == "later" && first.bytes == start)
    #expect(read(stream) == ([], "later"))
    let second = read(stream)
    #expect(second.then == "later")
    source.pieces = [piece(90..<Self.content.count), .end]
    let all = try coded(coding, flushes: [50, 90])
    #expect(first.bytes + second.bytes + read(stream).bytes == all)
  }

  @Test("what came before it broke off goes out, and then it fails", arguments: ContentCoding.allCases)
  func broken(_ coding: ContentCoding) throws {
    let bench = try ServerBench()
    let failure = BodyEnd(party: .origin, reason: "gone")
    let stream = try stream(Script([piece(0..<50), .failed(failure)]), coding, bench)
    let (bytes, then) = read(stream)
    let expected = try coded(coding, flushes: [50], isWhole: false)
    #expect(then == "gone" && bytes == expected)
    #expect(read(stream) == ([], "gone") && bench.services.shared.codingMemory.count == 0)
  }

  @Test("parts of files are read in the pool; one that cannot be read comes again, or it fails")
  func files() throws {
    let bench = try ServerBench()
    let stored = try bench.stored()
    let run = FileRun(stored.body.slice(0..<10))
    let broken = FileRun(stored.body.slice(0..<20))
    let source = Script([.file(run), .file(broken), .end])
    let (stream, ready) = (try stream(source, .gzip, bench), Ready())
    stream.consumer = ready
    #expect(read(stream) == ([], "later") && read(stream) == ([], "later"))
    bench.turn { ready.count == 1 }
    // The second is longer than its file.
    #expect(read(stream).then == "later")
    bench.turn { ready.count == 2 }
    #expect(source.returned == 1)
    let (bytes, then) = read(stream)
    #expect(then == "end" && !bytes.isEmpty)
    let other = Script([.file(broken)])
    other.returned = 1
    let failing = try self.stream(other, .gzip, bench)
    failing.consumer = ready
    #expect(read(failing).then == "later")
    bench.turn { ready.count == 3 }
    #expect(read(failing).then == "stored-file-unreadable")
  }

  @Test("who leaves ends its source, and gives the memory back")
  func leaves() throws {
    let bench = try ServerBench()
    let source = Script([piece(0..<40), .later])
    let stream = try stream(source, .zstd, bench)
    _ = stream.next(limit: 1)
    stream.finish()
    #expect(source.isFinished && bench.services.shared.codingMemory.count == 0)
  }
}
