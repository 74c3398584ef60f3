import CLinux
import PawlHTTP
import PawlLoop
import PawlWire

/// The content of one answer over HTTP/2, on its way from the source into frames. A class, since a source may call its stream
/// back from within ``BodySource/next(limit:)``.
final class HTTP2Outgoing {
  enum Offer: Equatable {
    case bytes(Int, isLast: Bool)
    case later
    case end(Fields)
    case failed(BodyEnd)
  }

  /// The most bytes that the source is asked for at a time, and so the most that waits in memory for a client that reads nothing.
  static let pieceLimit = 64 << 10

  private enum Piece {
    case memory([UInt8], Range<Int>)
    case file(FileRun)

    var count: Int {
      switch self {
      case .memory(_, let range): range.count
      case .file(let run): run.count
      }
    }
  }

  private var source: (any BodySource)?
  /// The source after its end, kept until its last piece is in a frame, since that piece may have to be given back to the source.
  private var ended: (any BodySource)?
  private var piece: Piece?
  private var owed = OwedContent.unknown
  /// Whether nothing follows the piece, not even trailers.
  private var isLast = false
  private var trailers = Fields()
  /// The failure that came instead of the end.
  private var failure: BodyEnd?
  /// Whether the source had nothing when it was last asked, and will call ``BodyConsumer/bodyIsReady()``.
  var isWaiting = false

  /// Whether the content is a live stream.
  var isLive: Bool { source?.isLive ?? false }

  func begin(_ source: any BodySource, owed: UInt64?) { (self.source, self.owed) = (source, OwedContent(owed)) }

  /// Returns how much content can go into one frame of at most `limit` bytes.
  func offer(_ limit: Int) -> Offer {
    while true {
      if case .file(let run)? = piece, let keeper = source ?? ended, keeper.look(at: run, isCopied: true) != .same {
        guard keeper.takeBack(run) else { return .failed(BodyEnd(party: .pawl, reason: "stored-file-changed")) }
        wasTakenBack(run, by: keeper)
      }
      if let piece {
        let count = min(limit, piece.count)
        return .bytes(count, isLast: isLast && count == piece.count)
      }
      if let failure { return .failed(failure) }
      if let stop = pull() { return stop }
    }
  }

  private func wasTakenBack(_ run: FileRun, by keeper: any BodySource) {
    (source, ended, piece, isLast, trailers) = (keeper, nil, nil, false, Fields())
    owed.giveBack(run.count)
  }

  private func pull() -> Offer? {
    guard let source else { return .end(trailers) }
    switch source.next(limit: Self.pieceLimit) {
    case .memory(let bytes, let range): take(.memory(bytes, range))
    case .file(let run): take(.file(run))
    case .later, .soon:
      isWaiting = true
      return .later
    case .end:
      if let fault = owed.end() { return .failed(fault) }
      noteEnd()
      letGoOfEnded()
      return .end(trailers)
    case .failed(let end): return .failed(end)
    }
    return nil
  }

  private func take(_ next: Piece) {
    guard next.count > 0 else { return }
    if let fault = owed.take(next.count) { return failure = fault }
    piece = next
    if owed.isPaid { lookAhead() }
  }

  /// Asks the source for its end, so that END_STREAM can be in the same frame as the last bytes, if the length is known.
  private func lookAhead() {
    switch source?.next(limit: 1) {
    case .end:
      noteEnd()
      isLast = trailers.count == 0
    case .failed(let end): failure = end
    case .memory(_, let range) where range.isEmpty: break
    case .memory, .file: failure = OwedContent.tooLong
    case .later, .soon, nil: break
    }
  }

  private func noteEnd() {
    trailers = source?.trailers ?? Fields()
    (ended, source) = (source, nil)
  }

  private func letGoOfEnded() {
    ended?.finish()
    ended = nil
  }

  /// Moves bytes of the piece into a frame. Returns an error where they cannot be read.
  func append(_ count: Int, to output: inout [UInt8]) -> BodyEnd? {
    switch piece {
    case .memory(let bytes, let range):
      let end = range.lowerBound + min(count, range.count)
      output.append(contentsOf: bytes[range.lowerBound..<end])
      piece = end < range.upperBound ? .memory(bytes, end..<range.upperBound) : nil
      if piece == nil { letGoOfEnded() }
      return nil
    case .file(var run):
      let got = Self.read(run, count, into: &output)
      guard got == count else {
        let isRead = got >= 0
        return BodyEnd(party: .pawl, reason: isRead ? "stored-file-too-short" : "stored-file-unreadable")
      }
      run.advance(by: count)
      piece = run.count > 0 ? .file(run) : nil
      if piece == nil { letGoOfEnded() }
      return nil
    case nil: return BodyEnd(party: .pawl, reason: "no-content")
    }
  }

  /// Reads bytes of a file, for one frame at most. Like `sendfile`, this blocks if the bytes are not in the page cache. Returns
  /// how many bytes were read; -1 if they cannot be read.
  private static func read(_ run: FileRun, _ count: Int, into output: inout [UInt8]) -> Int {
    let start = output.count
    output.append(contentsOf: repeatElement(0, count: count))
    var filled = 0
    while filled < count {
      let got = output.withUnsafeMutableBytes { buffer in
        pread(
          run.descriptor, buffer.baseAddress.map { $0 + start + filled }, count - filled,
          off_t(clamping: run.offset + UInt64(filled)))
      }
      if got < 0, pawl_errno() == EINTR { continue }
      guard got > 0 else { return got < 0 ? -1 : filled }
      filled += got
    }
    return filled
  }

  /// Frees the source and the piece, early or at the end.
  func finish() {
    source?.finish()
    source = nil
    letGoOfEnded()
    piece = nil
  }
}

extension HTTP2Outgoing.Offer {
  /// The offer in the session's type, which has no reason for a failure.
  var plain: HTTP2Offer {
    switch self {
    case .bytes(let count, let isLast): .bytes(count, isLast: isLast)
    case .later: .later
    case .end(let trailers): .end(trailers)
    case .failed: .failed(.internalError)
    }
  }
}
