import PawlHTTP
import PawlLoop
import PawlStore
import PawlUpload
import PawlUpstream

/// What an attempt came to, and what follows (architecture.md, Uploads).
extension UploadForwarder {
  /// An answer that could not be recorded is tried to be recorded again.
  private static let storePatience = Duration.seconds(5)
  /// So long the client that waits can have a body that is too long to be kept.
  private static let spillLifetime = Duration.seconds(60)

  func conclude(_ outcome: Outcome) {
    switch outcome {
    case .answered(let head, let collector):
      let answer = UploadAnswer(
        status: head.status, reason: Array(head.reason), fields: head.fields,
        body: collector.isTruncated ? [] : collector.memory, isTruncated: collector.isTruncated, at: loop.wallSeconds,
        keepFor: uploads.settings.responseTTL)
      switch ForwardPolicy.verdict(status: head.status) {
      case .answered: keep(answer, head, collector.spilled)
      case .notConsumed: passOn(answer, "the origin answered \(head.status)")
      }
    case .broke(let failure):
      let why = failure.error.details.map { "\(failure.error.kind.rawValue): \($0)" } ?? failure.error.kind.rawValue
      guard case .sent = phase else { return comeBack(why) }
      switch ForwardPolicy.afterBreak(sent: true, uploads.delivery) {
      case .again: comeBack(why)
      case .unknown: leaveUnknown(why)
      }
    }
  }

  // MARK: - Consumed

  private func keep(_ answer: UploadAnswer, _ head: ResponseHead, _ spilled: SpilledAnswer?) {
    phase = .over
    letGo()
    if let spilled { lend(spilled) }
    guard let request else { return }
    owner.invalidate(after: request.incoming, answer: head) { [self] in record(answer) }
  }

  private func record(_ answer: UploadAnswer) {
    guard !isCut else { return }
    upload.answer(answer, on: loop) { [self] isRecorded in
      guard !isCut else { return }
      guard isRecorded else {
        owner.events.log(.error, "upload-answer-not-stored", ["upload": id, "status": "\(answer.status)"])
        let timer = loop.makeTimer { [weak self] in self?.record(answer) }
        timer.schedule(after: Self.storePatience)
        self.timer = timer
        return
      }
      owner.events.log(
        .info, "upload-answered",
        ["upload": id, "status": "\(answer.status)", "attempt": "\(attempt)", "upstream": route.upstreamName])
      end()
    }
  }

  private func lend(_ spilled: SpilledAnswer) {
    let (server, uploadID) = (owner.server, upload.id)
    server.spilledAnswers.withLock { $0[uploadID] = spilled }
    owner.uploads.forget(after: Self.spillLifetime) { server.spilledAnswers.withLock { $0[uploadID] = nil } }
  }

  func refuseForGood(_ why: String) {
    phase = .over
    // From `forwarding` it goes by way of `complete`: nothing of it is with the origin.
    upload.noteAttempt(failed: why, nextAt: nil)
    upload.invalidate(why: why, on: loop) { [self] _ in
      guard !isCut else { return }
      end()
    }
  }

  // MARK: - Not consumed

  /// 401, 429, 503: the client that waits is given the answer, and the upload stays.
  func passOn(_ answer: UploadAnswer, _ why: String) {
    let pause = ForwardPolicy.pauseWithoutClient(status: answer.status, retryAfter: retryAfter(answer.fields))
    upload.lastRefusal = UploadLastRefusal(attempt: attempt, answer: answer)
    goBack(why, after: pause)
  }

  private func retryAfter(_ fields: Fields) -> Int64? {
    guard let value = fields.only(.retryAfter)?.trimmed else { return nil }
    if let seconds = value.strictDecimal { return Int64(clamping: seconds) }
    return HTTPDate.parse(value, now: loop.wallSeconds).map { $0 - loop.wallSeconds }
  }

  /// Nothing irrevocable has happened, or the route says that it may happen twice.
  func comeBack(_ why: String) {
    let pause = ForwardPolicy.backoff(attempt: attempt)
    // Uploads that failed together do not come back together.
    goBack(why, after: pause - pause / 4 * Int(Randomness.uint64() % 256) / 256)
  }

  private func goBack(_ why: String, after pause: Duration?) {
    phase = .over
    letGo()
    let nextAt = pause.map { loop.wallSeconds + $0.wholeSeconds }
    owner.events.log(
      .warning, "upload-forward-failed",
      [
        "upload": id, "attempt": "\(attempt)", "upstream": route.upstreamName, "why": why,
        "next": pause.map { "\($0.wholeSeconds)s" } ?? "when-its-client-asks",
      ])
    upload.noteAttempt(failed: why, nextAt: nextAt)
    wait(pause)
  }

  private func wait(_ pause: Duration?) {
    guard !isCut else { return }
    let (queue, upload) = (owner.uploads, upload)
    let untilEnd = upload.giveUpAt.map { Duration.seconds(max(0, $0 - loop.wallSeconds)) }
    end()
    if let first = [pause, untilEnd].compactMap(\.self).min() { queue.look(at: upload, after: first) }
  }

  private func leaveUnknown(_ why: String) {
    phase = .over
    letGo()
    upload.becomeUnknown(why: why, on: loop) { [self] _ in
      guard !isCut else { return }
      end()
    }
  }
}
