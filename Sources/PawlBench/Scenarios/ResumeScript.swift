import PawlBase

/// Downloads that the client breaks off and resumes with `Range` and `If-Range`, as download managers do. All received pieces
/// together must equal the reference.
final class ResumeScript: Script {
  private let first: RequestText
  private let rest: RequestText
  private let reference: Reference
  private let interruptions: Int
  private let worker: Worker
  /// The offsets at which the client breaks off, in descending order: the next one is last in the array.
  private var cuts: [UInt64] = []
  private var held: UInt64 = 0
  private var validator: [UInt8] = []
  /// The offset at which the present exchange began.
  private var asked: UInt64 = 0
  private var attempts = 0

  /// The most successive breaks without progress. After one more break the download fails.
  static let attemptLimit = 5

  /// - Parameter reference: must not be empty.
  init(_ worker: Worker, _ maker: RequestMaker, _ reference: Reference, interruptions: Int) {
    (self.worker, self.reference, self.interruptions) = (worker, reference, interruptions)
    (first, rest) = (maker.make(), maker.make())
    first.finish()
  }

  func begin() -> RequestText? {
    (held, asked, attempts) = (0, 0, 0)
    validator.removeAll(keepingCapacity: true)
    cuts.removeAll(keepingCapacity: true)
    if reference.count > 1 {
      for _ in 0..<interruptions { cuts.append(1 + worker.random.next(below: reference.count - 1)) }
      cuts.sort(by: >)
    }
    return first
  }

  func head(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict {
    switch head.status {
    case 200:
      if asked > 0 {
        // The server does not resume, but sends the complete body again.
        worker.tally.again += held
        worker.tally.restarts += 1
      }
      held = 0
      takeValidator(bytes)
      if let length = head.length, length != reference.count { return .failed(.length) }
      return .goOn
    case 206 where asked > 0:
      guard let range = head.contentRange, range.first == asked, range.last == reference.count - 1,
        range.total ?? reference.count == reference.count
      else { return .failed(.range) }
      if let length = head.length, length != reference.count - asked { return .failed(.length) }
      return .goOn
    case let status: return .failed(.status(status))
    }
  }

  /// Keeps the validator for If-Range: a strong entity tag, or else Last-Modified (RFC 9110 §13.1.5).
  private func takeValidator(_ bytes: Span<UInt8>) {
    validator.removeAll(keepingCapacity: true)
    var place = AnswerHead.field("etag", in: bytes)
    if let tag = place, bytes.begins(with: "w/", at: tag.lowerBound) { place = nil }
    guard let place = place ?? AnswerHead.field("last-modified", in: bytes) else { return }
    for at in place { validator.append(bytes[at]) }
  }

  func content(_ bytes: UnsafeBufferPointer<UInt8>) -> Verdict {
    attempts = 0
    // Bytes after the cut are treated as not received.
    guard let cut = cuts.last, cut <= held + UInt64(bytes.count) else { return take(bytes) }
    let verdict = take(UnsafeBufferPointer(rebasing: bytes[..<Int(cut - held)]))
    while let cut = cuts.last, cut <= held { cuts.removeLast() }
    return verdict == .goOn ? .cut : verdict
  }

  private func take(_ bytes: UnsafeBufferPointer<UInt8>) -> Verdict {
    if worker.settings.comparesContent {
      guard reference.matches(bytes, at: held) else { return .failed(.content) }
      worker.tally.verified += UInt64(bytes.count)
    }
    held += UInt64(bytes.count)
    return .goOn
  }

  func ended() -> Outcome { held == reference.count ? .done : .failed(.length) }

  func wasCut() -> Outcome { .next(remainder()) }

  func broke(_ failure: Failure) -> Outcome {
    attempts += 1
    guard failure == .cut || failure == .timeout || failure == .connect, attempts <= Self.attemptLimit else {
      return .failed(failure)
    }
    worker.tally.survived += 1
    return .next(remainder())
  }

  /// Returns the request for the missing part, on condition that the representation is the same (RFC 9110 §13.1.5).
  private func remainder() -> RequestText {
    asked = held
    guard held > 0 else { return first }
    rest.rewind()
    rest.append("Range") { value in
      value.append(contentsOf: "bytes=".utf8)
      value.append(decimal: held)
      value.append(0x2d)
    }
    if !validator.isEmpty { rest.append("If-Range") { $0.append(contentsOf: validator) } }
    rest.finish()
    return rest
  }
}
