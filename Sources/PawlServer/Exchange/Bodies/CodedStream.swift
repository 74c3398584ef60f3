import PawlCoding
import PawlHTTP

/// Content for one client, compressed as it comes. When the source has nothing more for now, the encoder is flushed, so that
/// each event of an event stream goes out at once. Nothing is stored, so ranges of this content cannot be requested.
final class CodedStream: BodySource, BodyConsumer {
  /// The most bytes that are compressed at a time on the loop, which takes less than a millisecond.
  private static let piece = 16 << 10

  private let source: any BodySource
  private let encoder: ContentEncoder
  private let share: CodingMemory.Share
  private var output: [UInt8] = []
  private var sent = 0
  private var holdsBack = false
  private var end: BodyPiece?
  /// The read of a file run that the source returned.
  private var reading: FileReading?
  weak var consumer: (any BodyConsumer)? { didSet { source.consumer = consumer == nil ? nil : self } }

  private struct FileReading {
    var run: FileRun
    var isUnderWay = true
  }

  private let services: LoopServices

  init(
    _ source: any BodySource, in coding: ContentCoding, share: CodingMemory.Share, on services: LoopServices
  ) throws(CodingError) {
    encoder = try ContentEncoder(coding, effort: .streamed)
    (self.source, self.share, self.services) = (source, share, services)
  }

  var isLive: Bool { source.isLive }
  /// The trailers without digests, because those are digests of the uncompressed bytes.
  var trailers: Fields {
    var trailers = source.trailers
    trailers.removeDigests()
    return trailers
  }

  func bodyIsReady() { consumer?.bodyIsReady() }

  func next(limit: Int) -> BodyPiece {
    while true {
      if sent < output.count {
        let range = sent..<min(output.count, sent + limit)
        sent = range.upperBound
        return .memory(output, range)
      }
      (output, sent) = ([], 0)
      if let end { return end }
      if let reading { if reading.isUnderWay { return .later } }
      switch source.next(limit: Self.piece) {
      case .memory(let bytes, let range):
        bytes.withUnsafeBytes { take(UnsafeRawBufferPointer(rebasing: $0[range])) }
      case .file(let run): read(run)
      case .soon: return .soon
      case .later:
        guard holdsBack else { return .later }
        code { encoder, output throws(CodingError) in try encoder.flush(into: &output) }
        holdsBack = false
      case .end:
        code { encoder, output throws(CodingError) in try encoder.finish(into: &output) }
        if end == nil { end = .end }
        share.giveBack()
      case .failed(let failure):
        // The client still gets all content that came.
        if holdsBack { code { encoder, output throws(CodingError) in try encoder.flush(into: &output) } }
        end = .failed(failure)
        share.giveBack()
      }
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    holdsBack = true
    code { encoder, output throws(CodingError) in try encoder.encode(bytes, into: &output) }
  }

  private func code(_ work: (ContentEncoder, inout [UInt8]) throws(CodingError) -> Void) {
    do throws(CodingError) {
      try work(encoder, &output)
    } catch {
      output = []
      end = .failed(BodyEnd(party: .pawl, reason: "coding-failed"))
    }
  }

  /// Reads a file run in the pool, so that the loop does not wait for the disk.
  private func read(_ run: FileRun) {
    reading = FileReading(run: run)
    let isQueued = services.pool.run({ run.read() }, then: services.loop) { [weak self] bytes in
      guard let self, self.reading?.isUnderWay == true else { return }
      self.reading = nil
      if let bytes, self.source.look(at: run, isCopied: true) == .same {
        bytes.withUnsafeBytes { self.take($0) }
      } else if !self.source.takeBack(run) {
        self.end = .failed(BodyEnd(party: .pawl, reason: "stored-file-unreadable"))
      }
      self.consumer?.bodyIsReady()
    }
    if !isQueued { (reading, end) = (nil, .failed(BodyEnd(party: .pawl, reason: "ended"))) }
  }

  func finish() {
    reading = nil
    share.giveBack()
    source.finish()
    (output, sent) = ([], 0)
  }
}
