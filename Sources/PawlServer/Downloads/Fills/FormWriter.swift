import PawlCache
import PawlCacheStore
import PawlCoding
import PawlHTTP
import PawlLoop
import PawlObserve

/// Writes one coded form. It reads the original body, which is held or still coming, has the pool compress it, and stores the result. Any
/// number of readers follow the writer, as they follow a ``Fill``; the writer belongs to none of them. A form has one writer at a time.
/// Lives on the loop that began it.
final class FormWriter: DownloadJob, BodyConsumer {
  /// The number of content bytes that the pool compresses at a time: this takes some milliseconds.
  private static let piece = 256 << 10
  /// The time that the writer waits for more content before it flushes the encoder.
  private static let flushDelay = Duration.milliseconds(20)
  /// The largest number of bytes by which a form may be ahead of its fastest reader while the content is not complete.
  private static let lead: UInt64 = 8 << 20

  private enum State { case reading, encoding, held, over }

  private let downloads: LoopDownloads
  private let base: StoredResponse
  private let form: StoredResponse
  private let store: CacheStore
  private let encoding: FormEncoding
  private let memory: CodingMemory.Share
  private var source: (any BodySource)?
  private var coordinator: FillCoordinator?
  private var timer: LoopTimer?
  private var state = State.reading

  /// Begins to write the form, unless it is complete or has a writer already.
  /// - Parameters:
  ///   - source: makes the source that gives the content from its first byte on.
  ///   - share: the share of the memory for encoders, which is given back at the end.
  /// - Returns: whether the form is being written now, or is complete.
  static func start(
    _ form: StoredResponse, in coding: ContentCoding, of base: StoredResponse, in store: CacheStore,
    on downloads: LoopDownloads, share: CodingMemory.Share, from source: () -> any BodySource
  ) -> Bool {
    if form.body.isComplete || FillCoordinator.isBeingWritten(form) { return true }
    let encoding: FormEncoding
    do throws(CodingError) {
      encoding = try FormEncoding(coding, into: form.body)
    } catch {
      downloads.events.log(
        .warning, "coding-failed", ["body": base.body.id.hex, "coding": "\(coding.name)", "why": "\(error)"])
      return false
    }
    let writer = FormWriter(encoding, form, of: base, in: store, on: downloads, share)
    guard let coordinator = FillCoordinator.beganWriting(writer, form, on: downloads.loop) else { return true }
    writer.coordinator = coordinator
    let source = source()
    source.consumer = writer
    writer.source = source
    downloads.fetches[ObjectIdentifier(writer)] = writer
    // The exchange that asked for the form becomes a reader first, so the writer begins in the next turn.
    downloads.loop.nextTurn { writer.step() }
    return true
  }

  private init(
    _ encoding: FormEncoding, _ form: StoredResponse, of base: StoredResponse, in store: CacheStore,
    on downloads: LoopDownloads, _ share: CodingMemory.Share
  ) {
    (self.encoding, self.form, self.base, self.store, self.downloads) = (encoding, form, base, store, downloads)
    memory = share
  }

  // MARK: - The content

  func bodyIsReady() { step() }

  private func step() {
    guard state == .reading, let source else { return }
    if mustWait {
      state = .held
      coordinator?.writerWaits(true)
      // A reader may have moved before the coordinator noted that the writer waits.
      return downloads.loop.nextTurn { [weak self] in self?.readersMoved() }
    }
    switch source.next(limit: Self.piece) {
    case .memory(let bytes, let range):
      timer?.cancel()
      encode { encoding throws(FormEncoding.Failure) in
        var failure: FormEncoding.Failure?
        bytes.withUnsafeBytes { bytes in
          do throws(FormEncoding.Failure) {
            try encoding.take(UnsafeRawBufferPointer(rebasing: bytes[range]))
          } catch { failure = error }
        }
        if let failure { throw failure }
      }
    case .file(let run): encode(run)
    case .later, .soon: waitForMore()
    case .end:
      encode(isLast: true) { encoding throws(FormEncoding.Failure) in try encoding.finish() }
    case .failed(let end): fail(end)
    }
  }

  private func encode(_ run: FileRun) {
    timer?.cancel()
    let (body, range) = (base.body, run.position..<run.position + UInt64(run.count))
    encode { encoding throws(FormEncoding.Failure) in
      var bytes = [UInt8](repeating: 0, count: run.count)
      let count = bytes.withUnsafeMutableBytes { body.read(range, into: $0) }
      guard count == bytes.count else { throw .store(.dropped) }
      var failure: FormEncoding.Failure?
      bytes.withUnsafeBytes { bytes in
        do throws(FormEncoding.Failure) { try encoding.take(bytes) } catch { failure = error }
      }
      if let failure { throw failure }
    }
  }

  /// Runs the work in the pool, and goes on when it is done.
  private func encode(
    isLast: Bool = false, _ work: @escaping @Sendable (FormEncoding) throws(FormEncoding.Failure) -> Void
  ) {
    state = .encoding
    let encoding = encoding
    let isQueued = downloads.pool.run(
      { Result { () throws(FormEncoding.Failure) in try work(encoding) } }, then: downloads.loop
    ) { [self] outcome in
      guard state == .encoding else { return }
      state = .reading
      switch outcome {
      case .failure(let failure): encodingFailed(failure)
      case .success where isLast: finish()
      case .success: step()
      }
    }
    if !isQueued { fail(BodyEnd(party: .pawl, reason: "ended")) }
  }

  /// Waits for more content. If none comes soon, the encoder is flushed, so that readers get what it holds.
  private func waitForMore() {
    form.body.moveToFileSoon()
    guard encoding.holdsBack, !form.body.isSteady, timer?.isScheduled != true else { return }
    let timer = timer ?? downloads.loop.makeTimer { [weak self] in self?.flush() }
    self.timer = timer
    timer.schedule(after: Self.flushDelay)
  }

  private func flush() {
    guard state == .reading, encoding.holdsBack else { return }
    encode { encoding throws(FormEncoding.Failure) in try encoding.flush() }
  }

  // MARK: - Readers

  private var mustWait: Bool {
    if form.body.isStreaming { return form.body.windowIsFull }
    guard !base.body.isComplete, let fastest = form.body.readers.fastest else { return false }
    return encoding.written > fastest + Self.lead
  }

  /// Handles a reader that has moved on or left; it may have been the last reader.
  func readersMoved() {
    guard state != .over else { return }
    guard coordinator?.hasReaders == true else { return readersLeft() }
    guard state == .held, !mustWait else { return }
    state = .reading
    coordinator?.writerWaits(false)
    step()
  }

  /// Handles the loss of the last reader. If the complete content is held, the form is still completed. Otherwise the writer ends, because
  /// nothing is fetched for a form without readers.
  private func readersLeft() {
    if base.body.isComplete, !form.body.isStreaming {
      guard state == .held else { return }
      state = .reading
      coordinator?.writerWaits(false)
      return step()
    }
    if form.body.isStreaming { form.body.fail(.notKept) }
    end(nil)
  }

  // MARK: - Its end

  private func finish() {
    form.body.setTotal(encoding.written)
    form.body.complete()
    end(nil)
  }

  private func encodingFailed(_ failure: FormEncoding.Failure) {
    downloads.events.log(
      .warning, "coding-failed",
      ["body": base.body.id.hex, "form": form.body.id.hex, "at": "\(encoding.consumed)", "why": "\(failure)"])
    form.body.fail(failure == .differs ? .changed("coded-otherwise") : .notKept)
    end(BodyEnd(party: .pawl, reason: "coding-failed"))
  }

  /// Ends the writer, because the content cannot be completed now. The part of the form that was made stays, unless the content has failed.
  private func fail(_ failure: BodyEnd) {
    if let failure = base.body.failure { form.body.fail(failure) }
    end(failure)
  }

  /// Ends the writer, because the server ends.
  func stop() { end(BodyEnd(party: .pawl, reason: "ended")) }

  private func end(_ failure: BodyEnd?) {
    guard state != .over else { return }
    state = .over
    timer?.close()
    source?.finish()
    source = nil
    memory.giveBack()
    downloads.fetches[ObjectIdentifier(self)] = nil
    coordinator?.endedWriting(failure)
    if !form.body.isComplete { form.body.fillPaused() }
    form.body.wakeAll()
  }
}
