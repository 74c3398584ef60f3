/// Carries the exchanges of lanes: a connection of HTTP/1.1, or one of HTTP/2 with its streams.
protocol Transport: AnyObject {
  /// Sends the lane's request as soon as possible. The transport then calls the lane's functions for each part of the response.
  func send(_ request: RequestText, for lane: Lane)
  /// Breaks off the lane's exchange. After that, the transport calls no function of the lane for this exchange.
  func cut(_ lane: Lane)
  /// Goes on sending, after the script has moved ``RequestText/stop``.
  func goOnSending(_ lane: Lane)
}

/// A simulated client. It performs one operation after the other, on a connection of its own or on streams of a shared one.
final class Lane {
  let worker: Worker
  let script: any Script
  private(set) var transport: (any Transport)?
  private(set) var isBusy = false
  /// The time when the operation was due, in nanoseconds.
  private var due: UInt64 = 0
  private var hasFirstByte = false
  private var failure: Failure?
  /// The time when bytes were last received or sent, in nanoseconds.
  var lastActivity: UInt64 = 0
  /// The stream that carries the exchange. Only the transport uses it.
  var stream: Int32 = 0
  /// The offset up to which content was sent. `hasAnswer`: whether the final head has come. Only the transport uses the two.
  var contentAt: UInt64 = 0
  var hasAnswer = false
  private(set) var request: RequestText?

  init(_ worker: Worker, _ script: any Script) { (self.worker, self.script) = (worker, script) }

  func attach(_ transport: any Transport) { self.transport = transport }

  func detach() { transport = nil }

  /// Begins an operation. Returns `false` if the script has to wait.
  func begin(due: UInt64) -> Bool {
    guard let request = script.begin() else { return false }
    (self.due, isBusy, hasFirstByte) = (due, true, false)
    send(request)
    return true
  }

  private func send(_ request: RequestText) {
    self.request = request
    failure = nil
    lastActivity = worker.now
    worker.tally.exchanges += 1
    transport?.send(request, for: self)
  }

  // MARK: From the transport

  /// Notes that bytes of the response came.
  func came() {
    lastActivity = worker.now
    guard !hasFirstByte else { return }
    hasFirstByte = true
    worker.tally.firstByte.record(microseconds)
  }

  /// `interim`, `head`, `content` and `stopped` return `false` if the exchange was cut. None of them may be called for that
  /// exchange again.
  func interim(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Bool {
    failure != nil || obey(script.interim(head, bytes))
  }

  func head(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Bool {
    let verdict = script.head(head, bytes)
    guard case .failed(let failure) = verdict else { return obey(verdict) }
    // A short wrong response is read to its end, so that the connection stays usable.
    if let length = head.length, length <= Self.readOver {
      self.failure = failure
      return true
    }
    return obey(verdict)
  }

  func content(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    worker.tally.received += UInt64(bytes.count)
    return failure != nil || obey(script.content(bytes))
  }

  func stopped() -> Bool { failure != nil || obey(script.stopped()) }

  func ended() {
    if let failure { finish(failure) } else { follow(script.ended()) }
  }

  func broke(_ failure: Failure) {
    if let known = self.failure { finish(known) } else { follow(script.broke(failure)) }
  }

  func sent(_ count: Int) {
    worker.tally.sent += UInt64(count)
    lastActivity = worker.now
  }

  /// The longest wrong response that is read to its end, in bytes.
  private static let readOver: UInt64 = 64 << 10

  // MARK: What follows

  private func obey(_ verdict: Verdict) -> Bool {
    switch verdict {
    case .goOn: return true
    case .failed(let failure):
      transport?.cut(self)
      finish(failure)
    case .cut:
      worker.tally.interruptions += 1
      transport?.cut(self)
      follow(script.wasCut())
    }
    return false
  }

  private func follow(_ outcome: Outcome) {
    switch outcome {
    case .done: finish(nil)
    case .failed(let failure): finish(failure)
    case .next(let request): send(request)
    }
  }

  private func finish(_ failure: Failure?) {
    isBusy = false
    if let failure {
      worker.tally.fail(failure)
    } else {
      worker.tally.completed += 1
      worker.tally.latency.record(microseconds)
    }
    script.over()
    worker.finished(self, failure)
  }

  private var microseconds: UInt64 { worker.now > due ? (worker.now - due) / 1000 : 0 }
}
