import CLinux
import PawlDisk
package import PawlLoop

/// Bytes of a body that can be sent without waiting for a thread or the disk.
package enum ReadyBytes {
  /// All bytes of the body.
  case memory([UInt8])
  /// The requested range. It is in the page cache, unless the file system cannot report that.
  case file(FileSlice)
}

extension StoredBody {
  /// Returns `range` of a complete body if it is in memory, or verified in an open file with its pages in the page cache; else
  /// `nil`. The caller has to send it at once and completely, because no reader is registered.
  /// - Parameter isNamed: whether the client named the body by ``primaryTag``. Then the result is `nil` unless the tag is proven
  ///   for all bytes.
  package func ready(_ range: Range<UInt64>, isNamed: Bool, now: Monotonic) -> ReadyBytes? {
    let lately = core.openBodies.lately
    let moment = FileStamp.moment(now)
    let found = state.withLock { state -> (bytes: ReadyBytes, isWarm: Bool, unseen: FileStamp??)? in
      guard state.content.isWhole, !isNamed || state.tags.first?.limit == .max else { return nil }
      if let memory = state.memory {
        state.memoryUse = .used
        return (.memory(memory), true, nil)
      }
      guard let descriptor = state.descriptor, state.verified.contiguousEnd(from: range.lowerBound) >= range.upperBound
      else { return nil }
      state.lastTouch = lately
      let slice = FileSlice(
        fd: descriptor.raw, offset: descriptor.base + range.lowerBound,
        count: Int(range.upperBound - range.lowerBound), base: descriptor.base, keeper: descriptor)
      return (
        .file(slice), state.warmth.isWarm(range, at: now.seconds), state.lookedAt == moment ? nil : .some(state.stamp)
      )
    }
    guard let found else { return nil }
    if case .file(let slice) = found.bytes, slice.base > 0 { return readyInPack(slice, now) }
    if case .file(let slice) = found.bytes, let stamp = found.unseen, !isAsItWas(slice.fd, stamp, at: moment) {
      return nil
    }
    guard found.isWarm || isInPageCache(range, now: now) else { return nil }
    return found.bytes
  }

  /// Returns content that is in a pack. Small content is read and compared with its digest each time. Large content is sent from
  /// the file, and is compared with its digest only if that was not done in the last seconds.
  private func readyInPack(_ slice: FileSlice, _ now: Monotonic) -> ReadyBytes? {
    guard let pack = (slice.keeper as? BodyDescriptor)?.pack, heldCount >= ProvenRecords.least else {
      return readPacked().map { .memory($0) }
    }
    if pack.hasProven(slice.base, now: now) { return .file(slice) }
    let stamp = FileStamp(of: slice.fd)
    guard case .same = lookIntoPack() else { return nil }
    pack.noteProven(slice.base, now: now, stamp)
    return .file(slice)
  }

  private var heldCount: UInt64 { state.withLock { $0.heldCount } }

  /// Returns all bytes of a complete body if they are in memory, or in a pack and in the page cache; else `nil`. On a loop.
  package func wholeAtHand() -> [UInt8]? {
    let (memory, isPacked) = state.withLock { state in
      if state.memory != nil { state.memoryUse = .used }
      return (state.memory, state.content.isWhole && state.place.packed != nil)
    }
    return memory ?? (isPacked ? readPacked() : nil)
  }

  /// Returns whether the file is unchanged. Called only if the file was not checked in this millisecond yet.
  private func isAsItWas(_ descriptor: CInt, _ stamp: FileStamp?, at moment: UInt64) -> Bool {
    guard let stamp, FileStamp(of: descriptor) == stamp else { return isUntouched() }
    state.withLock { $0.lookedAt = moment }
    return true
  }

  /// Whether the pages of `range` can be sent without waiting for the disk. `true` if the file system cannot report that. Called
  /// on a loop. Probes with reads that never wait, one byte for each 64 KiB, and remembers the range if all of it is there.
  package func isInPageCache(_ range: Range<UInt64>, now: Monotonic) -> Bool {
    let (isWarm, descriptor) = state.withLock { ($0.warmth.isWarm(range, at: now.seconds), $0.descriptor) }
    guard !isWarm, let descriptor else { return true }
    let end = total.map { min($0, PageWarmth.around(range).upperBound) } ?? range.upperBound
    var position = PageWarmth.around(range).lowerBound
    var byte: UInt8 = 0
    while position < end {
      let last = min(position + Self.probeStep, end) - 1
      if pawl_pread_nowait(descriptor.raw, &byte, 1, off_t(clamping: descriptor.base + last)) < 0,
        pawl_errno() == EAGAIN
      {
        return false
      }
      position += Self.probeStep
    }
    state.withLock { $0.warmth.note(range, at: now.seconds) }
    return true
  }

  /// The distance between probes, in bytes. It may be this large because the pieces that the kernel reads ahead are even larger.
  private static let probeStep: UInt64 = 64 << 10

  /// Reads `range` into the page cache, in the pool; then `completion` runs on `loop`. Read errors are ignored here, because they
  /// occur again when the range is sent. Call this function on that loop.
  package func warm(_ range: Range<UInt64>, on loop: EventLoop, _ completion: @escaping () -> Void) {
    let reply = LoopReply<Void>(on: loop) { completion() }
    let now = loop.now
    let isQueued = core.pool.run { [self] in
      if let descriptor = state.withLock({ $0.descriptor }) { readAll(PageWarmth.around(range), of: descriptor) }
      state.withLock { $0.warmth.note(range, at: now.seconds) }
      reply.send(())
    }
    if !isQueued { reply.send(()) }
  }

  private func readAll(_ range: Range<UInt64>, of descriptor: BodyDescriptor) {
    core.withSegmentBuffer { buffer in
      var position = range.lowerBound
      while position < range.upperBound {
        let count = Int(min(UInt64(buffer.count), range.upperBound - position))
        let read = pread(descriptor.raw, buffer.baseAddress, count, off_t(clamping: descriptor.base + position))
        guard read > 0 else { return }
        position += UInt64(read)
      }
    }
    // The kernel reads the next MiB ahead while this range is sent.
    _ = posix_fadvise(
      descriptor.raw, off_t(clamping: descriptor.base + range.upperBound), off_t(SegmentTable.span), POSIX_FADV_WILLNEED
    )
  }
}
