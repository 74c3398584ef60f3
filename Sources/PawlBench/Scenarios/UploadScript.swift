/// Sends complete uploads, each broken off as often as configured. With a resumable protocol the client requests the offset and
/// sends the rest; a plain upload begins again.
final class UploadScript: Script {
  private enum Step: Hashable { case create, ask, append }

  private let messages: UploadMessages
  private let plan: UploadPlan
  private let worker: Worker
  private weak var lane: Lane?
  private var step = Step.create
  private var place: UploadPlace?
  /// The offsets at which the client breaks off, in descending order: the next one is last in the array.
  private var cuts: [UInt64] = []
  private var isHeld = false
  /// The offset up to which content was sent. `promised`: the offset that the server has confirmed.
  private var sent: UInt64 = 0
  private var promised: UInt64 = 0
  private var attempts = 0
  private var toldOffset: UInt64?
  private var mustAsk = false

  /// The most successive exchanges without progress. After one more such exchange the upload fails.
  static let attemptLimit = 10

  init(_ worker: Worker, _ maker: RequestMaker, _ plan: UploadPlan) {
    (self.worker, self.plan) = (worker, plan)
    messages = UploadMessages(maker: maker, plan: plan)
  }

  func attached(_ lane: Lane) { self.lane = lane }

  func begin() -> RequestText? {
    (place, sent, promised, attempts) = (nil, 0, 0, 0)
    cuts.removeAll(keepingCapacity: true)
    if plan.size > 1 {
      for _ in 0..<plan.interruptions { cuts.append(1 + worker.random.next(below: plan.size - 1)) }
      cuts.sort(by: >)
    }
    return create()
  }

  // MARK: Requests

  private func create() -> RequestText { prepare(.create, messages.creation()) }

  private func ask() -> RequestText? { place.map { prepare(.ask, messages.question($0)) } }

  private func append(from offset: UInt64) -> RequestText? {
    guard let place else { return nil }
    worker.tally.again += sent > offset ? sent - offset : 0
    (promised, sent) = (offset, offset)
    while let cut = cuts.last, cut <= offset { cuts.removeLast() }
    return prepare(.append, messages.append(place, from: offset))
  }

  private func prepare(_ step: Step, _ request: RequestText) -> RequestText {
    (self.step, isHeld, toldOffset, mustAsk) = (step, false, nil, false)
    if !request.content.isEmpty { request.stop = cuts.last }
    return request
  }

  private func next(_ request: RequestText?) -> Outcome { request.map { .next($0) } ?? .failed(.uploadURL) }

  // MARK: What comes

  func interim(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict {
    guard head.status == 104, messages.isResumable, place == nil else { return .goOn }
    place = AnswerHead.text("location", in: bytes).flatMap { UploadPlace($0) }
    return isHeld && place != nil ? cut() : .goOn
  }

  /// Called when content was sent up to the offset of the next break. Breaks the exchange off at once, or as soon as the URL of
  /// the upload is known.
  func stopped() -> Verdict {
    if !messages.isResumable || place != nil { return cut() }
    isHeld = true
    return .goOn
  }

  private func cut() -> Verdict {
    sent = lane?.contentAt ?? sent
    if !cuts.isEmpty { cuts.removeLast() }
    return .cut
  }

  func wasCut() -> Outcome {
    guard messages.isResumable else {
      worker.tally.again += sent
      worker.tally.restarts += 1
      return .next(create())
    }
    return next(ask())
  }

  func head(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict {
    switch step {
    case .create where !messages.createsWithContent:
      guard head.status == 201 else { return .failed(.status(head.status)) }
      place = AnswerHead.text("location", in: bytes).flatMap { UploadPlace($0) }
      return place == nil ? .failed(.uploadURL) : .goOn
    case .ask: return takeOffset(head, bytes)
    case .create, .append:
      if head.status == 409, step == .append {
        mustAsk = true
        return .goOn
      }
      guard (200..<300).contains(head.status) else { return .failed(.status(head.status)) }
      guard messages.isComplete(head, bytes) else { return .failed(.incomplete) }
      return compareDigest(bytes)
    }
  }

  private func takeOffset(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict {
    guard head.status == 200 || head.status == 204 else { return .failed(.status(head.status)) }
    // The offset must not be above what was sent, nor below what the server has confirmed before.
    guard let offset = messages.offset(bytes), offset <= sent, offset >= promised else { return .failed(.offset) }
    toldOffset = offset
    return .goOn
  }

  /// Compares the digest that the test origin (``Origin``) has sent back. Without a digest nothing is compared.
  private func compareDigest(_ bytes: Span<UInt8>) -> Verdict {
    guard let told = AnswerHead.text("bench-xxh3", in: bytes), let body = worker.body else { return .goOn }
    guard told == body.digestText else { return .failed(.content) }
    worker.tally.verified += plan.size
    return .goOn
  }

  func content(_ bytes: UnsafeBufferPointer<UInt8>) -> Verdict { .goOn }

  func ended() -> Outcome {
    switch step {
    case .create where !messages.createsWithContent: return next(append(from: 0))
    case .ask:
      guard let offset = toldOffset else { return .failed(.offset) }
      if offset > promised { attempts = 0 }
      return next(append(from: offset))
    case .create, .append:
      guard mustAsk else { return .done }
      sent = max(sent, lane?.contentAt ?? 0)
      attempts += 1
      return attempts <= Self.attemptLimit ? next(ask()) : .failed(.status(409))
    }
  }

  func broke(_ failure: Failure) -> Outcome {
    if isHeld, place == nil, failure == .timeout { return .failed(.uploadURL) }
    attempts += 1
    guard messages.isResumable, place != nil, attempts <= Self.attemptLimit else { return .failed(failure) }
    if step == .append || step == .create { sent = max(sent, lane?.contentAt ?? 0) }
    worker.tally.survived += 1
    return next(ask())
  }
}
