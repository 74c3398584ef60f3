import PawlHTTP
import PawlLoop
import PawlUploadStore

/// The body of an origin's answer to an upload: what may be kept in memory, and all of it, on disk, for a client that
/// waits.
struct AnswerCollector {
  /// The most of a body that is put on disk, in bytes; a longer one is cut there.
  static let spillLimit: UInt64 = 64 << 20

  /// `response-max`, in bytes.
  private let limit: UInt64
  private let makeFile: () -> TemporaryFile?
  /// Of the spool, for who uploads: taken as the file grows; `nil`: as much as it likes.
  private let room: SpoolRoom?
  private(set) var memory: [UInt8] = []
  /// What came of a body that broke off before it was longer than is kept.
  private(set) var part: [UInt8] = []
  private(set) var spilled: SpilledAnswer?
  /// Bytes of the body that came.
  private(set) var count: UInt64 = 0
  /// Nothing more of it is taken.
  private var isOver = false

  init(limit: UInt64, room: SpoolRoom? = nil, makeFile: @escaping () -> TemporaryFile?) {
    (self.limit, self.room, self.makeFile) = (limit, room, makeFile)
  }

  /// Whether nobody will get any more of it.
  var isBeyondUse: Bool { count > max(limit, Self.spillLimit) }

  /// Whether more came than is kept, or less than there was.
  var isTruncated: Bool { count > limit }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    let before = count
    count += UInt64(bytes.count)
    if !isTruncated { return memory.append(contentsOf: bytes) }
    if spilled == nil, !isOver { beginSpill(before) }
    guard let present = spilled, !isOver else { return }
    guard count <= Self.spillLimit, hasRoom(UInt64(bytes.count)), present.file.write(bytes, at: before) else {
      return stop()
    }
    spilled?.count = count
  }

  /// The body broke off: what came of it is no whole one.
  mutating func breakOff() {
    if !isTruncated { part = memory }
    stop()
    count = .max
  }

  private mutating func beginSpill(_ before: UInt64) {
    guard hasRoom(before), let file = makeFile(), memory.withUnsafeBytes({ file.write($0, at: 0) }) else {
      return stop()
    }
    memory = []
    spilled = SpilledAnswer(file: file, room: room, count: before)
  }

  private func hasRoom(_ bytes: UInt64) -> Bool { room.map { $0.grow(by: bytes) == nil } ?? true }

  private mutating func stop() {
    (memory, isOver) = ([], true)
    spilled?.isWhole = false
  }
}

/// A body too long to be kept, for the client that waits for it now.
struct SpilledAnswer: Sendable {
  let file: TemporaryFile
  /// Given back with this.
  fileprivate let room: SpoolRoom?
  /// Bytes.
  fileprivate(set) var count: UInt64
  /// Whether they are all of it.
  fileprivate(set) var isWhole = true

  var body: any BodySource { TemporaryFileBody(file, count: count) }
}
