import PawlHTTP
import PawlLoop
import PawlUploadStore

/// Collects the body of the origin's response to an upload. A body of up to `response-max` stays in memory. A longer body goes to
/// a file, for the client that waits for the response.
struct ResponseCollector {
  /// The largest body that is kept on disk, in bytes; a longer body is cut at this length.
  static let spillLimit: UInt64 = 64 << 20

  /// `response-max`, in bytes.
  private let limit: UInt64
  private let makeFile: () -> TemporaryFile?
  /// The space in the spool that the file takes as it grows, counted for the client; `nil`: no limit.
  private let room: SpoolRoom?
  private(set) var memory: [UInt8] = []
  /// The beginning of a body that broke off before it was longer than `response-max`.
  private(set) var part: [UInt8] = []
  private(set) var spilled: OversizedResponse?
  /// The number of bytes of the body that came; `.max` after ``breakOff()``.
  private(set) var count: UInt64 = 0
  /// Whether no more bytes are kept.
  private var isOver = false

  init(limit: UInt64, room: SpoolRoom? = nil, makeFile: @escaping () -> TemporaryFile?) {
    (self.limit, self.room, self.makeFile) = (limit, room, makeFile)
  }

  /// Whether more bytes came than memory or the file may hold, so that the rest of the body is of no use.
  var isBeyondUse: Bool { count > max(limit, Self.spillLimit) }

  /// Whether the body is longer than `response-max`, or broke off.
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

  /// Records that the body broke off, so that the bytes that came are only its beginning.
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
    spilled = OversizedResponse(file: file, room: room, count: before)
  }

  private func hasRoom(_ bytes: UInt64) -> Bool { room.map { $0.grow(by: bytes) == nil } ?? true }

  private mutating func stop() {
    (memory, isOver) = ([], true)
    spilled?.isWhole = false
  }
}

/// A response body that is longer than `response-max`, in a file, for the client that waits for the response.
struct OversizedResponse: Sendable {
  let file: TemporaryFile
  /// The space in the spool; given back when this value is gone.
  fileprivate let room: SpoolRoom?
  /// The number of bytes in the file.
  fileprivate(set) var count: UInt64
  /// Whether the file has the complete body.
  fileprivate(set) var isWhole = true

  var body: any BodySource { TemporaryFileBody(file, count: count) }
}
