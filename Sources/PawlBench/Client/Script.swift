/// The client's next step in the running exchange.
enum Verdict: Hashable {
  case goOn
  /// The response is wrong, so the operation has failed.
  case failed(Failure)
  /// The exchange is broken off on purpose.
  case cut
}

/// The client's next step after an exchange.
enum Outcome {
  /// The operation is complete and its result is right.
  case done
  case failed(Failure)
  /// The operation goes on with another request.
  case next(RequestText)
}

/// The operation that one lane repeats. It may take several requests, one after the other. A run may have many small requests, so
/// the functions must not allocate memory for each of them.
protocol Script: AnyObject {
  /// Called before the first operation.
  func attached(_ lane: Lane)
  /// Begins an operation and returns its first request. Returns `nil` if the operation has to wait. The script then calls
  /// ``Worker/proceed(_:)`` later.
  func begin() -> RequestText?
  /// Called for an interim response (1xx).
  func interim(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict
  func head(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict
  /// Called for the next bytes of the response's content.
  func content(_ bytes: UnsafeBufferPointer<UInt8>) -> Verdict
  /// Called when ``RequestText/stop`` is reached.
  func stopped() -> Verdict
  /// Called when the response is complete.
  func ended() -> Outcome
  /// Called when the exchange broke off before its response was complete, except after ``Verdict/cut``.
  func broke(_ failure: Failure) -> Outcome
  /// Called after ``Verdict/cut`` has ended the exchange.
  func wasCut() -> Outcome
  /// Called when the operation has ended, with success or without.
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
