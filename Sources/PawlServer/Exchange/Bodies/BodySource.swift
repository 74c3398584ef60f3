import CLinux
import PawlCacheStore
import PawlHTTP

/// A run of content that a connection can send.
enum BodyPiece {
  /// Bytes of a file, sent with `sendfile`.
  case file(FileRun)
  /// Bytes in memory; the range selects them in the array.
  case memory([UInt8], Range<Int>)
  /// The source has nothing now. It calls ``BodyConsumer/bodyIsReady()`` when it may have something.
  case later
  /// The source has nothing now, but content or its end is about to come: the source calls ``BodyConsumer/bodyIsReady()``
  /// within the loop's present turn. Bytes that are queued already, such as a head, can wait for that content and be sent
  /// together with it.
  case soon
  case end
  /// The body cannot be finished; the connection ends it visibly.
  case failed(BodyEnd)
}

/// The part of a file slice that is still to be sent.
struct FileRun: Sendable {
  private let slice: FileSlice
  private var sent = 0

  init(_ slice: FileSlice) { self.slice = slice }

  var descriptor: CInt { slice.fd }
  /// The position in the file.
  var offset: UInt64 { slice.offset + UInt64(sent) }
  /// The position in the body.
  var position: UInt64 { offset - slice.base }
  var count: Int { slice.count - sent }
  mutating func advance(by count: Int) { sent += count }

  /// Reads all bytes of the run; blocking. Returns `nil` if the file is too short or cannot be read.
  func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < bytes.count {
      let got = bytes.withUnsafeMutableBytes { room in
        pread(descriptor, room.baseAddress.map { $0 + done }, room.count - done, off_t(clamping: offset) + off_t(done))
      }
      if got < 0, pawl_errno() == EINTR { continue }
      guard got > 0 else { return nil }
      done += got
    }
    return bytes
  }
}

/// Why a body ended early, as written in the access log (`ended_by`, `end_reason`).
struct BodyEnd: Error, Hashable, Sendable {
  enum Party: String, Sendable { case client, origin, pawl }
  var party: Party
  var reason: String
}

/// The source of a response's content. The connection pulls from it only as fast as the client takes the content.
protocol BodySource: AnyObject {
  /// Returns the next bytes, at most `limit`.
  func next(limit: Int) -> BodyPiece
  /// The object to call when more content has come. Set before the first `next`.
  var consumer: (any BodyConsumer)? { get set }
  /// Whether the content is a live stream (``LiveStream``). If so, a client that sends FIN counts as gone; otherwise pawl would
  /// not notice that the client has left until the next content comes.
  var isLive: Bool { get }
  /// The trailers; valid after ``BodyPiece/end``.
  var trailers: Fields { get }
  /// Checks whether the file of the last run is unchanged. If the file has changed, or sending fails, the rest of the run is
  /// given back (``takeBack(_:)``).
  /// - Parameter isCopied: whether the bytes that were already sent were copied, so that a change of the file cannot change
  ///   them.
  func look(at run: FileRun, isCopied: Bool) -> FileLook
  /// Takes back the rest of the last run; ``next(limit:)`` returns its bytes again once they are valid. Returns `false` if they
  /// will never be valid.
  func takeBack(_ run: FileRun) -> Bool
  /// Frees the source, early or after the end. This is the last call.
  func finish()
}

extension BodySource {
  var isLive: Bool { false }
  var trailers: Fields { Fields() }
  func look(at run: FileRun, isCopied: Bool) -> FileLook { .same }
  func takeBack(_ run: FileRun) -> Bool { false }
}

protocol BodyConsumer: AnyObject {
  /// Called on the consumer's loop when ``BodySource/next(limit:)`` may return something new.
  func bodyIsReady()
}

/// A short body in memory.
final class MemoryBody: BodySource {
  private var bytes: [UInt8]
  private var sent = 0
  weak var consumer: (any BodyConsumer)?

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func next(limit: Int) -> BodyPiece {
    guard sent < bytes.count else { return .end }
    let range = sent..<min(bytes.count, sent + limit)
    sent = range.upperBound
    return .memory(bytes, range)
  }

  func finish() { bytes = [] }
}

/// The length of a response's content, without regard to the framing.
enum ContentLength: Hashable {
  /// The status or the method allows no content.
  case none
  case known(UInt64)
  case unknown

  /// The length of an origin's response, by its framing.
  init(_ framing: BodyFraming) {
    switch framing {
    case .none: self = .none
    case .length(let count): self = .known(count)
    case .chunked, .untilClose: self = .unknown
    }
  }
}
