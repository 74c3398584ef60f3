import PawlCacheStore

/// The content of a temporary file: its first `count` bytes.
final class TemporaryFileBody: BodySource {
  private let file: TemporaryFile
  private let count: UInt64
  private var sent: UInt64 = 0
  weak var consumer: (any BodyConsumer)?

  init(_ file: TemporaryFile, count: UInt64) { (self.file, self.count) = (file, count) }

  func next(limit: Int) -> BodyPiece {
    guard sent < count else { return .end }
    let piece = Int(min(UInt64(limit), count - sent))
    defer { sent += UInt64(piece) }
    return .file(FileRun(FileSlice(fd: file.descriptor, offset: sent, count: piece, keeper: file)))
  }

  func finish() {}
}
