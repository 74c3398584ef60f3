/// Sends one request on each connection and then nothing, because the scenario measures idle connections.
final class IdleScript: Script {
  private let request: RequestText
  private var isOpen = false

  init(_ maker: RequestMaker) {
    request = maker.make()
    request.finish()
  }

  func begin() -> RequestText? {
    guard !isOpen else { return nil }
    isOpen = true
    return request
  }

  func head(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict {
    head.status < 400 ? .goOn : .failed(.status(head.status))
  }

  func content(_ bytes: UnsafeBufferPointer<UInt8>) -> Verdict { .goOn }
  func ended() -> Outcome { .done }
}
