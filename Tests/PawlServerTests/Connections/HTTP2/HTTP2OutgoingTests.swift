import CLinux
import PawlCacheStore
import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The content of an answer over HTTP/2") struct HTTP2OutgoingTests {
  /// Gives its pieces one after the other.
  private final class Pieces: BodySource {
    var pieces: [BodyPiece]
    var trailers = Fields()
    var isFinished = false
    weak var consumer: (any BodyConsumer)?
    init(_ pieces: [BodyPiece]) { self.pieces = pieces }
    func next(limit: Int) -> BodyPiece { pieces.isEmpty ? .end : pieces.removeFirst() }
    func finish() { isFinished = true }
  }

  private static func memory(_ text: String) -> BodyPiece { .memory(Array(text.utf8), 0..<text.utf8.count) }

  private func outgoing(_ pieces: [BodyPiece], owed: UInt64? = nil, trailers: Fields = Fields()) -> HTTP2Outgoing {
    let source = Pieces(pieces)
    source.trailers = trailers
    let outgoing = HTTP2Outgoing()
    outgoing.begin(source, owed: owed)
    return outgoing
  }

  @Test("goes in frames of at most the limit; the last bytes of a known length end the stream")
  func frames() {
    var (outgoing, output) = (outgoing([Self.memory("01234"), Self.memory(""), Self.memory("5")], owed: 6), [UInt8]())
    for (limit, offer) in [(3, 3), (3, 2)] {
      #expect(outgoing.offer(limit) == .bytes(offer, isLast: false))
      #expect(outgoing.append(offer, to: &output) == nil)
    }
    #expect(outgoing.offer(9) == .bytes(1, isLast: true))
    #expect(outgoing.append(1, to: &output) == nil)
    #expect(String(decoding: output, as: UTF8.self) == "012345")
  }

  @Test("of unknown length ends when its source does, with its trailers")
  func unknown() {
    var trailers = Fields()
    trailers.append(.etag, "x")
    var (outgoing, output) = (outgoing([Self.memory("0"), .later], trailers: trailers), [UInt8]())
    #expect(outgoing.offer(9) == .bytes(1, isLast: false) && !outgoing.isWaiting)
    #expect(outgoing.append(1, to: &output) == nil)
    #expect(outgoing.offer(9) == .later && outgoing.isWaiting)
    #expect(outgoing.offer(9) == .end(trailers))
  }

  @Test("that is not what was announced fails, after what came of it")
  func wrongLength() {
    let end = BodyEnd(party: .origin, reason: "x")
    let short = outgoing([Self.memory("0")], owed: 2)
    var output: [UInt8] = []
    #expect(short.offer(9) == .bytes(1, isLast: false) && short.append(1, to: &output) == nil)
    #expect(short.offer(9) == .failed(BodyEnd(party: .pawl, reason: "body-shorter-than-announced")))
    let long = outgoing([Self.memory("0"), Self.memory("1")], owed: 1)
    #expect(long.offer(9) == .bytes(1, isLast: false) && long.append(1, to: &output) == nil)
    #expect(long.offer(9) == .failed(BodyEnd(party: .pawl, reason: "body-longer-than-announced")))
    let broken = outgoing([Self.memory("0"), .failed(end)], owed: 9)
    #expect(broken.offer(9) == .bytes(1, isLast: false) && broken.append(1, to: &output) == nil)
    #expect(broken.offer(9) == .failed(end))
  }

  private final class Owner: Sendable {}

  /// Gives one run of a file, which is not what it was when it is looked at.
  private final class Changing: BodySource {
    var looks: [FileLook]
    var returned = 0
    var isFinished = false
    private let run: FileRun
    private var pieces: [BodyPiece]
    weak var consumer: (any BodyConsumer)?
    init(_ run: FileRun, _ looks: [FileLook]) { (self.run, self.looks, pieces) = (run, looks, [.file(run)]) }
    func next(limit: Int) -> BodyPiece { pieces.isEmpty ? .end : pieces.removeFirst() }
    func look(at run: FileRun, isCopied: Bool) -> FileLook { looks.isEmpty ? .same : looks.removeFirst() }
    func takeBack(_ run: FileRun) -> Bool {
      returned += 1
      pieces = [.later, .memory(Array("mended".utf8), 0..<run.count)]
      return returned == 1
    }
    func finish() { isFinished = true }
  }

  @Test("gives back what is left of a file that has changed, its end with it, and goes on when it comes again")
  func givenBack() throws {
    let folder = try TemporaryFolder()
    let file = pawl_open("\(folder.path)/file", O_RDWR | O_CREAT, 0o600)
    defer { close(file) }
    #expect(write(file, "012345", 6) == 6)
    let source = Changing(FileRun(FileSlice(fd: file, offset: 0, count: 6, keeper: Owner())), [.same, .changed])
    let outgoing = HTTP2Outgoing()
    outgoing.begin(source, owed: 6)
    var output: [UInt8] = []
    #expect(outgoing.offer(2) == .bytes(2, isLast: false) && outgoing.append(2, to: &output) == nil)
    #expect(outgoing.offer(9) == .later && outgoing.isWaiting && !source.isFinished && source.returned == 1)
    #expect(outgoing.offer(9) == .bytes(4, isLast: true) && outgoing.append(4, to: &output) == nil)
    #expect(String(decoding: output, as: UTF8.self) == "01mend" && source.isFinished)
  }

  @Test("fails when what is left of a file will not come again")
  func notGivenBack() {
    let source = Changing(FileRun(FileSlice(fd: -1, offset: 0, count: 6, keeper: Owner())), [.changed])
    source.returned = 1
    let outgoing = HTTP2Outgoing()
    outgoing.begin(source, owed: 6)
    #expect(outgoing.offer(2) == .failed(BodyEnd(party: .pawl, reason: "stored-file-changed")))
    outgoing.finish()
    #expect(source.isFinished)
  }
}
