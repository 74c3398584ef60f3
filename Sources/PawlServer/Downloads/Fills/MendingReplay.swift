import PawlCacheStore
import PawlLoop

/// A body that comes again from its first byte on, for the sake of what is lost of it. Every segment is held against the digest
/// that was recorded for it, so that no other content passes; and what is still in the file is read back before the origin's
/// bytes go past it, so that all that is damaged is mended in one go. Then it ends: what follows is not wanted. Of one fill, on
/// its loop.
final class MendingReplay {
  /// Bytes of the file that are read back at a time.
  private static let step: UInt64 = 8 << 20
  /// What comes must stay so far, in bytes, below where the file was read back: a segment that is damaged is known as lost
  /// before any of it comes.
  private static let margin: UInt64 = 1 << 20

  weak var fill: Fill?
  private let body: StoredBody
  private let proof: ReplayProof
  private let end: UInt64
  private let loop: EventLoop
  /// Up to here the file was read back.
  private var checked: UInt64 = 0
  private var start: (() -> Void)?

  init(_ body: StoredBody, through end: UInt64, on loop: EventLoop) {
    (self.body, self.end, self.loop) = (body, end, loop)
    proof = body.replayProof()
  }

  /// Calls `start` when the file was read back far enough to begin.
  func begin(_ start: @escaping () -> Void) {
    self.start = start
    readBack()
  }

  /// Whether what has come, the present bytes with it, is the body that was held; as far as can be told by now.
  func agrees(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool { proof.agrees(bytes, at: offset) }

  /// Whether the origin has to wait for the disk.
  func mustWait(at frontier: UInt64) -> Bool { checked < end && frontier + Self.margin > checked }

  private func readBack() {
    let next = checked..<min(end, checked + Self.step)
    body.checkAll(next, on: loop) { [weak self] outcome in
      guard let self, let fill = self.fill, fill.replay === self else { return }
      // What cannot be read now is compared all the same; its reader finds out.
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

  /// All that is damaged is known.
  private func allIsRead(_ fill: Fill) {
    let last = body.lastLost(below: end) ?? 0
    guard last > fill.fetch?.frontier ?? 0 else { return fill.endReplay() }
    fill.shorten(to: last)
    fill.readersMoved()
  }
}
