import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlWire

/// Continues a fetch after its origin broke off: asks for the rest, and judges the response.
extension OriginFetch {
  /// - Returns: what is done about it, for the log.
  @discardableResult
  func brokeOff() -> String {
    state.breaks()
    request.tally.lastBreak = attempts.failure
    // Bytes that came just before the break are announced now. They do not wait for the next attempt.
    sink?.fetchDelivered(self)
    return attemptFailed(isBreak: true)
  }

  /// What follows after an attempt has failed.
  private enum Step {
    case end(FetchFailure)
    case ask(ResumeDecision, after: Duration)

    var text: String {
      switch self {
      case .end(let failure): "gives up: \(failure.end.reason)"
      case .ask(.askForRest(let from, _, _), let delay): "fetches the rest from byte \(from), in \(delay)"
      case .ask(.replay, let delay): "fetches it from the start and compares, in \(delay)"
      case .ask(.giveUp(let why), _): "gives up: \(why)"
      }
    }
  }

  @discardableResult
  private func attemptFailed(isBreak: Bool = false) -> String {
    guard !state.isEnded else {
      let text = "nothing: the rest is not wanted any more"
      if isBreak { logBreak(text) }
      return text
    }
    nodes?.attemptEnded()
    let step = nextStep()
    let text = step.text
    if isBreak { logBreak(text) }
    request.explain("resume", text)
    switch step {
    case .end(let failure): fail(failure)
    case .ask(let decision, let delay): waitToAsk(delay) { $0.perform(decision) }
    }
    return text
  }

  private func nextStep() -> Step {
    guard first?.isFinal == false else { return .end(.gaveUp("\(attempts.failure), cannot-be-resumed")) }
    guard let identity, sink?.fetchIsWanted(self) == true else { return .end(.gaveUp("not-wanted")) }
    let decision = attempts.next(held: frontier, spanStart: spanStart, prefix: heldPrefix, identity: identity)
    if case .giveUp(let why) = decision { return .end(.gaveUp("\(attempts.failure), \(why)")) }
    return .ask(
      decision, after: backoff(attempt: attempts.progress.attemptsWithoutProgress, jitter: Randomness.uint64()))
  }

  private func logBreak(_ next: String) {
    services.events.log(
      .notice, "origin-broke",
      [
        "upstream": route.upstreamName, "target": request.shown(base.target).text, "at": "\(frontier)",
        "why": attempts.failure, "of": (spanEnd ?? total).map { "\($0)" } ?? "-", "request": request.idText,
        "next": next,
      ])
  }

  /// The offset up to which the sink can compare a response that begins at byte zero. It matters only for a span that does not begin at
  /// zero.
  private var heldPrefix: UInt64 { spanStart == 0 ? 0 : sink?.fetchHeldPrefix(self) ?? 0 }

  func perform(_ decision: ResumeDecision) {
    guard !state.isEnded else { return }
    attempts.asked = decision
    if case .giveUp = decision { return }
    ask(ResumptionRequest.head(base, decision, through: spanEnd, of: identity))
  }

  // MARK: - The response

  func judge(
    _ head: ResponseHead, _ framing: BodyFraming, to asked: ResumeDecision, of identity: RepresentationIdentity
  ) {
    let (url, canBeCompared) = (exchange?.url, canReplay(spanStart: spanStart, prefix: heldPrefix))
    let isOther = nodes?.isOther(url) ?? false
    let verdict = judgeContinuation(
      asked: asked, identity: identity, answer: head, framing: framing, canReplay: canBeCompared, isOtherNode: isOther,
      joinsLater: sink?.fetchJoinsLater(self) ?? false)
    if let defect = OriginDefect(head, asked: asked, verdict, of: identity, isOtherNode: isOther) {
      counters.addDefect(defect)
    }
    switch verdict {
    case .append(let from): goOnReading(from: from, head)
    case .replay:
      nodes?.compares(url, head, framing, total: total, receivedAt: services.loop.wallSeconds)
      goOnReading(from: 0, head)
    // Another node may still have the content, or send a response that can be compared.
    case .changed(let why) where nodes?.disagrees() == true: askAnother(why.rawValue)
    case .rangesRefused where isOther && !canBeCompared && nodes?.disagrees() == true:
      askAnother("rest-cannot-be-proven")
    case .complete:
      dropExchange()
      end()
    // If the origin refuses a range to this client, this says nothing about the bytes that other clients have.
    case .changed(let why) where why.isAboutAsker && !state.hasBroken && frontier == spanStart:
      fail(.narrower(why.rawValue))
    // If the origin refuses this client a repeated request, the held bytes stay, for the same reason.
    case .changed(let why) where why.isAboutAsker: fail(.gaveUp(why.rawValue))
    case .changed(let why): fail(.changed(why.rawValue))
    case .tryAgain:
      dropExchange()
      attempts.ended("status-\(head.status)", AttemptEnding(status: head.status))
      attemptFailed()
    case .rangesRefused:
      dropExchange()
      attempts.rangesWereRefused()
      attemptFailed()
    }
  }

  /// Drops the response, because it is not the wanted content, and asks again, because another node may still have the wanted content.
  func askAnother(_ why: String) {
    dropExchange()
    attempts.ended(why, .brokeOff)
    attemptFailed()
  }

  /// Logs, at most once an hour, that nodes give equal bytes different validators. Because the validators differ, each change to another
  /// node costs a replay.
  func logNodesDiffer() {
    counters.addDefect(.etagUnstable)
    services.shared.advice.log(
      .notice, "nodes-tag-differently", of: "\(route.upstreamName) nodes",
      [
        "upstream": route.upstreamName, "target": request.shown(base.target).text,
        "why": "two URLs gave equal bytes under other validators",
      ])
  }

  private func goOnReading(from start: UInt64, _ head: ResponseHead) {
    if let objection = sink?.fetch(self, objectsTo: head) { return fail(.narrower(objection)) }
    guard reads(from: start) else { return endImpossibly() }
    if state.hasBroken {
      request.tally.resumes += 1
      resumes += 1
    }
    if case .askForRest = attempts.asked, head.status == 200 { attempts.progress.originRefusesRanges = true }
    defer { sink?.fetchContinues(self) }
    guard state.hasBroken else { return }
    services.counters.add(FetchBreak.counter(of: attempts.failure))
    // With a range, the bytes before it did not have to come again.
    services.counters.add(.savedByFillResume, start > spanStart ? start - spanStart : 0)
    services.events.log(
      .notice, "origin-resumed",
      [
        "upstream": route.upstreamName, "target": request.shown(base.target).text, "at": "\(frontier)",
        "from": "\(start)",
        "how": start == 0 && frontier > 0 ? "replay" : "range", "after": attempts.failure,
        "attempt": "\(attempts.progress.attemptsWithoutProgress)", "request": request.idText,
      ])
  }
}
