import PawlCacheStore
import PawlLoop

/// Checks a body that comes again from its first byte on, to restore its lost bytes. Every segment has to match the digest that was
/// recorded for it, so that no other content passes. The file is read back ahead of the origin's bytes, so that all damage is found and
/// mended in one replay. The replay ends after the last lost byte. Belongs to one fill, on its loop.
final class MendingReplay {
  /// The number of bytes of the file that are read back at a time.
  private static let step: UInt64 = 8 << 20
  /// The smallest distance, in bytes, between the origin's bytes and the offset up to which the file was read back. So a damaged segment is
  /// known as lost before any byte of it comes.
  private static let margin: UInt64 = 1 << 20

  weak var fill: Fill?
  private let body: StoredBody
  private let proof: ReplayProof
  private let end: UInt64
  private let loop: EventLoop
  /// The offset up to which the file was read back.
  private var checked: UInt64 = 0
  private var start: (() -> Void)?

  init(_ body: StoredBody, through end: UInt64, on loop: EventLoop) {
    (self.body, self.end, self.loop) = (body, end, loop)
    proof = body.replayProof()
  }

  /// Calls `start` when enough of the file was read back.
  func begin(_ start: @escaping () -> Void) {
    self.start = start
    readBack()
  }

  /// Whether the bytes that have come, including these, may be the body that was held. A segment is checked when its last byte comes.
  func agrees(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool { proof.agrees(bytes, at: offset) }

  /// Whether the origin has to wait until more of the file was read back.
  func mustWait(at frontier: UInt64) -> Bool { checked < end && frontier + Self.margin > checked }

  private func readBack() {
    let next = checked..<min(end, checked + Self.step)
    body.checkAll(next, on: loop) { [weak self] outcome in
      guard let self, let fill = self.fill, fill.replay === self else { return }
      // Bytes that cannot be read back now do not stop the replay. A reader that needs them will find the damage.
      self.checked = next.upperBound
      let start = self.start
      self.start = nil
      start?()
      if self.checked < self.end {
        self.readBack()
        fill.readersMoved()
      } else {
        self.allIsRead(fill)
      }
    }
  }

  /// Ends the replay at the last lost byte, because all damage is known now.
  private func allIsRead(_ fill: Fill) {
    let last = body.lastLost(below: end) ?? 0
    guard last > fill.fetch?.frontier ?? 0 else { return fill.endReplay() }
    fill.shorten(to: last)
    fill.readersMoved()
  }
}
