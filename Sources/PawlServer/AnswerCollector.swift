import PawlHTTP
import PawlLoop

/// The body of an origin's answer to an upload: what may be kept in memory, and all of it, on disk, for a client that
/// waits.
struct AnswerCollector {
  /// The longest body put on disk, in bytes; of a longer one the client gets only status and fields.
  static let spillLimit: UInt64 = 64 << 20

  /// `response-max`, in bytes.
  private let limit: UInt64
  private let makeFile: () -> TemporaryFile?
  private(set) var memory: [UInt8] = []
  private(set) var spilled: SpilledAnswer?
  /// Octets of the body that came.
  private(set) var count: UInt64 = 0
  private var isLost = false

  init(limit: UInt64, makeFile: @escaping () -> TemporaryFile?) { (self.limit, self.makeFile) = (limit, makeFile) }

  /// Whether nobody will get any more of it.
  var isBeyondUse: Bool { count > max(limit, Self.spillLimit) }

  /// Whether more came than is kept.
  var isTruncated: Bool { count > limit }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    let before = count
    count += UInt64(bytes.count)
    if !isTruncated { return memory.append(contentsOf: bytes) }
    if spilled == nil, !isLost { beginSpill(before) }
    guard let present = spilled else { return }
    guard count <= Self.spillLimit, present.file.write(bytes, at: before) else { return lose() }
    spilled?.count = count
  }

  /// The body broke off: what came of it is no body.
  mutating func breakOff() {
    lose()
    count = .max
  }

  private mutating func beginSpill(_ before: UInt64) {
    guard let file = makeFile(), memory.withUnsafeBytes({ file.write($0, at: 0) }) else { return lose() }
    memory = []
    spilled = SpilledAnswer(file: file, count: before)
  }

  private mutating func lose() { (memory, spilled, isLost) = ([], nil, true) }
}

/// A body too long to be kept, for the client that waits for it now.
struct SpilledAnswer: Sendable {
  let file: TemporaryFile
  /// Bytes.
  fileprivate(set) var count: UInt64

  var body: any BodySource { TemporaryFileBody(file, count: count) }
}
