/// What the client does next with the exchange that is on its way.
enum Verdict: Hashable {
  case goOn
  /// What came is wrong: the operation has failed.
  case failed(Failure)
  /// The exchange is broken off on purpose.
  case cut
}

/// What follows an exchange.
enum Outcome {
  /// The operation is complete, and right.
  case done
  case failed(Failure)
  /// The operation goes on with another request.
  case next(RequestText)
}

/// What one lane does again and again: one operation of a scenario, which may take several requests, one at a time.
/// Nothing here may allocate for each of many small requests.
protocol Script: AnyObject {
  /// Before the first operation.
  func attached(_ lane: Lane)
  /// A new operation begins: its first request. `nil` when it has to wait, for which the script sees to
  /// ``Worker/proceed(_:)`` itself.
  func begin() -> RequestText?
  /// A 1xx came.
  func interim(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict
  func head(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict
  /// The next bytes of the answer's content.
  func content(_ bytes: UnsafeBufferPointer<UInt8>) -> Verdict
  /// ``RequestText/stop`` is reached.
  func stopped() -> Verdict
  /// The answer is complete.
  func ended() -> Outcome
  /// The exchange broke off before that, and not by a ``Verdict/cut``.
  func broke(_ failure: Failure) -> Outcome
  /// The exchange was cut as the script wanted.
  func wasCut() -> Outcome
  /// The operation is over, one way or the other.
  func over()
}

extension Script {
  func interim(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict { .goOn }
  func stopped() -> Verdict { .goOn }
  func broke(_ failure: Failure) -> Outcome { .failed(failure) }
  func wasCut() -> Outcome { .failed(.cut) }
  func over() {}
  func attached(_ lane: Lane) {}
}
