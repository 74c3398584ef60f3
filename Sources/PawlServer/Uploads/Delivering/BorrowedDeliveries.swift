import PawlBase
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpload
import PawlUploadStore

/// The deliveries that go on elsewhere although this process has their spools: in the process before this one, or in stores of this
/// one that were handed over to a process that failed. Their steps are recorded here. Any thread.
final class BorrowedDeliveries: Sendable {
  private struct State {
    /// The uploads one of whose steps is being recorded.
    var busy: Set<UploadID> = []
    /// Whether no more steps come.
    var isOver = false
  }

  /// The uploads that were lent when the spools were opened.
  private let uploads: [UploadID: SpooledUpload]
  private let find: @Sendable (UploadID) -> SpooledUpload?
  private let homes: @Sendable () -> [DeliveryRecovery.Home]
  private let oneEnded: @Sendable () -> Void
  private let state = Locked(State())
  private let line = Locked<(EventLoop, LoopBound<ProcessLine>)?>(nil)

  /// - Parameters:
  ///   - uploads: the uploads that are lent.
  ///   - find: returns any upload of the present spools.
  ///   - homes: returns the present loops.
  ///   - oneEnded: called on any thread after each delivery that has ended.
  init(
    _ uploads: [SpooledUpload], find: @escaping @Sendable (UploadID) -> SpooledUpload?,
    homes: @escaping @Sendable () -> [DeliveryRecovery.Home], oneEnded: @escaping @Sendable () -> Void = {}
  ) {
    self.uploads = Dictionary(uploads.map { ($0.id, $0) }) { first, _ in first }
    (self.find, self.homes, self.oneEnded) = (find, homes, oneEnded)
  }

  /// The uploads whose deliveries still go on.
  var ids: Set<UploadID> { Set(uploads.values.filter(\.isLent).map(\.id)) }

  // MARK: - The other process

  /// Receives the steps of the process at the other end of this socket.
  func connect(_ descriptor: CInt, on loop: EventLoop) {
    let made = ProcessLine(
      descriptor, on: loop, received: { [weak self] in self?.received($0) }, ended: { [weak self] in self?.end() })
    line.withLock { $0 = (loop, LoopBound(made, on: loop)) }
    made.start()
  }

  private func received(_ bytes: [UInt8]) {
    guard let message = LentMessage(serialized: bytes) else {
      // What the other process does is not known any more. It notices the end of the line and ends its deliveries.
      closeLine()
      return end()
    }
    take(message) { [weak self] number, isRecorded in
      self?.reply(.recorded(number, isRecorded))
    }
  }

  private func reply(_ message: LentMessage) {
    guard let (loop, line) = line.withLock({ $0 }) else { return }
    loop.run { line.get().send(message.serialize()) }
  }

  /// Ends the deliveries of the other process, because this one ends or has lost the spools.
  func closeLine() {
    let last = line.withLock { line in
      defer { line = nil }
      return line
    }
    guard let (loop, line) = last else { return }
    loop.run { line.get().close() }
  }

  // MARK: - Steps

  /// Records a step.
  /// - Parameter then: called on any thread with the number of the step, and whether it is durably recorded.
  func take(_ message: LentMessage, then: @escaping @Sendable (UInt64, Bool) -> Void) {
    switch message {
    case .step(let number, let step): take(step) { then(number, $0) }
    case .delivered(let id): (uploads[id] ?? find(id))?.noteAnswerDelivered()
    case .recorded: break
    }
  }

  private func take(_ step: LentStep, then: @escaping @Sendable (Bool) -> Void) {
    guard let upload = uploads[step.id], let home = home(of: upload) else { return then(false) }
    state.withLock { _ = $0.busy.insert(step.id) }
    home.loop.run { [self] in
      invalidate(after: step, of: upload, on: home.uploads()) { [self] in
        upload.take(step) { [self] isRecorded in
          then(isRecorded)
          home.loop.run { [self] in took(step, of: upload, isRecorded, on: home.uploads()) }
        }
      }
    }
  }

  private func home(of upload: SpooledUpload) -> DeliveryRecovery.Home? {
    let homes = homes()
    return homes.isEmpty ? nil : DeliveryRecovery.home(of: upload, among: homes)
  }

  /// Invalidates the stored responses that the delivery may have made out of date. The other process has no cache any more.
  private func invalidate(
    after step: LentStep, of upload: SpooledUpload, on loop: LoopUploads, then: @escaping () -> Void
  ) {
    guard let answer = step.answer, step.event == .answered || step.event == .outcomeLost,
      let route = loop.services.router.finishing(upload), let uploads = route.uploads
    else { return then() }
    let request = DeliveryRequest(
      upload, length: upload.status.offset, route: route, uploads: uploads, loop: loop.services)
    let head = ResponseHead(status: answer.status, reason: answer.reason[...], fields: answer.fields)
    loop.services.invalidate(after: request.incoming, answer: head, then: then)
  }

  private func took(_ step: LentStep, of upload: SpooledUpload, _ isRecorded: Bool, on loop: LoopUploads) {
    let isOver = state.withLock { state in
      state.busy.remove(upload.id)
      return state.isOver
    }
    if isRecorded, upload.status.phase == .complete { deliver(upload, after: step, on: loop) }
    if isOver { settle(upload, on: loop) }
    if !upload.isLent { oneEnded() }
  }

  /// Plans the next attempt of an upload that came back. This process makes it.
  private func deliver(_ upload: SpooledUpload, after step: LentStep, on loop: LoopUploads) {
    guard let next = step.nextAttempt else {
      if step.refusal != nil { return loop.queue.pause(upload, for: nil, nextAttempt: nil) }
      return DeliveryRecovery.deliver(upload, on: loop, isUrgent: false)
    }
    loop.queue.pause(upload, for: .seconds(max(0, next - loop.loop.wallSeconds)), nextAttempt: next)
  }

  // MARK: - The end

  /// Decides about the uploads that are still lent, because the other process has ended: as a start after a crash does.
  func end() {
    let busy = state.withLock { state in
      state.isOver = true
      return state.busy
    }
    for upload in uploads.values where upload.isLent && !busy.contains(upload.id) {
      guard let home = home(of: upload) else { continue }
      home.loop.run { [self] in
        settle(upload, on: home.uploads())
        oneEnded()
      }
    }
  }

  private func settle(_ upload: SpooledUpload, on loop: LoopUploads) {
    guard upload.endLoan() else { return }
    let why = "the process that delivered it has ended"
    let phase = upload.status.phase
    loop.events.log(
      .warning, "delivery-lost", ["upload": upload.id.hex, "sent": phase == .sent ? "yes" : "no", "why": why])
    guard phase == .forwarding else { return DeliveryRecovery.recover(upload, on: loop) }
    upload.noteAttempt(failed: why, nextAt: nil)
    DeliveryRecovery.deliver(upload, on: loop, isUrgent: false)
  }
}
