import CLinux
import PawlCacheStore
import PawlHTTP

/// A run of content that a connection can send.
enum BodyPiece {
  /// Bytes of a file, sent with `sendfile`.
  case file(FileRun)
  /// Bytes in memory; the range counts within the array.
  case memory([UInt8], Range<Int>)
  /// Nothing yet: the source calls ``BodyConsumer/bodyIsReady()`` when it is worth asking again.
  case later
  /// Nothing yet, but more is about to come, or the end: the source calls ``BodyConsumer/bodyIsReady()`` within the loop's
  /// present turn, so that what is there already, a head, need not leave by itself.
  case soon
  case end
  /// The body cannot be finished; the connection ends it visibly.
  case failed(BodyEnd)
}

/// What is left to send of a slice of a file.
struct FileRun: Sendable {
  private let slice: FileSlice
  private var sent = 0

  init(_ slice: FileSlice) { self.slice = slice }

  var descriptor: CInt { slice.fd }
  /// In the file.
  var offset: UInt64 { slice.offset + UInt64(sent) }
  /// In the body.
  var position: UInt64 { offset - slice.base }
  var count: Int { slice.count - sent }
  mutating func advance(by count: Int) { sent += count }

  /// All of it, blocking; `nil` where the file does not have that.
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

/// Why a body ended before its end: the words of the access log (`ended_by`, `end_reason`).
struct BodyEnd: Error, Hashable, Sendable {
  enum Party: String, Sendable { case client, origin, pawl }
  var party: Party
  var reason: String
}

/// Pulls content towards a client; a slow reader is simply asked less often.
protocol BodySource: AnyObject {
  /// The next at most `limit` bytes.
  func next(limit: Int) -> BodyPiece
  /// Who is told that more has come. Set before the first `next`.
  var consumer: (any BodyConsumer)? { get set }
  /// Whether it goes on as long as its client listens (``LiveStream``): one that ends its side has left, and nothing may come for long by
  /// which that were noticed otherwise.
  var isLive: Bool { get }
  /// What stands behind the content; asked for after ``BodyPiece/end``.
  var trailers: Fields { get }
  /// Whether the file that the last run is taken of is still what it was. Where it is not, and where sending fails for want of
  /// it, the rest of the run is given back.
  /// - Parameter isCopied: what was sent of it before was copied, and is out of reach.
  func look(at run: FileRun, isCopied: Bool) -> FileLook
  /// What is left of the last run comes again, when it is right again; `false`: it never will.
  func takeBack(_ run: FileRun) -> Bool
  /// Ends the body early, or says that it has been read to its end. No call follows.
  func finish()
}

extension BodySource {
  var isLive: Bool { false }
  var trailers: Fields { Fields() }
  func look(at run: FileRun, isCopied: Bool) -> FileLook { .same }
  func takeBack(_ run: FileRun) -> Bool { false }
}

protocol BodyConsumer: AnyObject {
  /// On the consumer's loop: `next` has something new to say.
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

/// How long a response's content is, before framing.
enum ContentLength: Hashable {
  /// The status or the method allows no content.
  case none
  case known(UInt64)
  case unknown

  /// As a response of an origin came.
  init(_ framing: BodyFraming) {
    switch framing {
    case .none: self = .none
    case .length(let count): self = .known(count)
    case .chunked, .untilClose: self = .unknown
    }
  }
}
