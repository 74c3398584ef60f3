/// Requests the same response again and again: 200, with the content of the reference.
final class HitScript: Script {
  private let request: RequestText
  private let reference: Reference?
  private let comparesContent: Bool
  private let worker: Worker
  private var offset: UInt64 = 0

  init(_ worker: Worker, _ maker: RequestMaker) {
    self.worker = worker
    (reference, comparesContent) = (worker.reference, worker.settings.comparesContent)
    request = maker.make()
    request.finish()
  }

  func begin() -> RequestText? {
    offset = 0
    return request
  }

  func head(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict {
    guard head.status == 200 else { return .failed(.status(head.status)) }
    if let length = head.length, let reference, length != reference.count { return .failed(.length) }
    return .goOn
  }

  func content(_ bytes: UnsafeBufferPointer<UInt8>) -> Verdict {
    guard let reference, comparesContent else {
      offset += UInt64(bytes.count)
      return .goOn
    }
    guard reference.matches(bytes, at: offset) else { return .failed(.content) }
    offset += UInt64(bytes.count)
    worker.tally.verified += UInt64(bytes.count)
    return .goOn
  }

  func ended() -> Outcome {
    if let reference, offset != reference.count { return .failed(.length) }
    return .done
  }
}
