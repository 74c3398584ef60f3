/// Loads one complete body, as the reference of a run.
final class DownloadScript: Script {
  private let request: RequestText
  private var bytes: [UInt8] = []
  private(set) var failure: Failure?

  init(_ maker: RequestMaker) {
    request = maker.make()
    request.finish()
  }

  func take() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    return taken
  }

  func begin() -> RequestText? { request }

  func head(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict {
    guard head.status == 200 else { return note(.status(head.status)) }
    if let length = head.length { self.bytes.reserveCapacity(Int(clamping: min(length, 1 << 34))) }
    return .goOn
  }

  func content(_ bytes: UnsafeBufferPointer<UInt8>) -> Verdict {
    self.bytes.append(contentsOf: bytes)
    return .goOn
  }

  func ended() -> Outcome { .done }

  func broke(_ failure: Failure) -> Outcome {
    self.failure = self.failure ?? failure
    return .failed(failure)
  }

  private func note(_ failure: Failure) -> Verdict {
    self.failure = failure
    return .failed(failure)
  }
}
