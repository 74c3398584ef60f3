import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// Delivers complete uploads after a start, after a reload, and when the operator orders it.
enum DeliveryRecovery {
  /// A loop, and its ``LoopUploads``.
  struct Home: Sendable {
    let loop: EventLoop
    /// Returns the loop's ``LoopUploads``; call it on the loop.
    let uploads: @Sendable () -> LoopUploads
  }

  /// Delivers all uploads that wait. An upload's ID determines its loop, so the loop is the same each time. Call it on any
  /// thread.
  /// - Parameters:
  ///   - stores: all stores in use.
  ///   - foundSent: the uploads that were found sent, without a response, when their stores were opened just now. They are judged
  ///     (``recover(_:on:)``); those that were sent since then are being delivered.
  ///   - homes: returns the present loops; called again for each order of the operator.
  static func begin(stores: [UploadStore], foundSent: Set<UploadID>, homes: @escaping @Sendable () -> [Home]) {
    let now = homes()
    guard !now.isEmpty else { return }
    for store in stores {
      store.onOrder = { order, upload in
        guard order.kind == .resend else { return }
        Self.deliver(upload, on: homes())
      }
      for upload in store.uploads {
        switch upload.status.phase {
        case .complete: Self.deliver(upload, on: now)
        case .sent where foundSent.contains(upload.id):
          let home = Self.home(of: upload, among: now)
          home.loop.run { Self.recover(upload, on: home.uploads()) }
        case .open, .forwarding, .sent, .answered, .unknown, .invalid, .removed: break
        }
      }
    }
  }

  private static func deliver(_ upload: SpooledUpload, on homes: [Home]) {
    guard !homes.isEmpty else { return }
    let home = home(of: upload, among: homes)
    home.loop.run { deliver(upload, on: home.uploads(), isUrgent: false) }
  }

  static func home(of upload: SpooledUpload, among homes: [Home]) -> Home {
    homes[Int(upload.id.low % UInt64(homes.count))]
  }

  /// Delivers an upload by its present route. If there is no route, the upload waits. Call it on the loop.
  static func deliver(_ upload: SpooledUpload, on loop: LoopUploads, isUrgent: Bool) {
    guard let route = route(of: upload, on: loop) else { return }
    loop.queue.enter(upload, route, isUrgent: isUrgent)
  }

  private static func route(of upload: SpooledUpload, on loop: LoopUploads) -> RouteSettings? {
    if let route = loop.services.router.finishing(upload), !route.isOrphan { return route }
    noteWaiting(upload, on: loop)
    return nil
  }

  /// Logs that a complete upload waits, because no site serves its host.
  static func noteWaiting(_ upload: SpooledUpload, on loop: LoopUploads) {
    // No attempt is possible, so the upload is not given up for failed attempts.
    upload.giveUpAt = nil
    let head = upload.origin.head
    loop.events.log(
      .warning, "upload-waiting",
      [
        "upload": upload.id.hex, "host": head.authority.text, "target": head.target.text,
        "why": "no site is configured for its host",
      ])
  }

  /// Decides what to do with an upload whose request may have been sent in full before pawl ended, and got no response. Call it
  /// on the loop.
  static func recover(_ upload: SpooledUpload, on loop: LoopUploads) {
    guard upload.status.phase == .sent else { return }
    let why = "pawl ended before the answer came"
    let route = loop.services.router.finishing(upload)
    let delivery = route?.uploads?.delivery ?? .atMostOnce
    // If the origin has said that it took the upload, the upload is not sent again without an order of the operator.
    guard upload.status.originStatus != nil || DeliveryPolicy.afterRestart(.sent, delivery) == .unknown else {
      // This does not wait until `complete` is recorded. If pawl ends before that, `sent` is still recorded, and the next start
      // sends the upload again in this case, too.
      upload.noteAttempt(failed: why, nextAt: nil)
      return deliver(upload, on: loop, isUrgent: false)
    }
    // The operator may need more time than the time limit for deliveries allows, so the limit is removed.
    upload.giveUpAt = nil
    upload.becomeUnknown(why: why, on: loop.loop) { isRecorded in
      guard !isRecorded else { return }
      loop.events.log(.error, "upload-record-failed", ["upload": upload.id.hex, "step": "unknown"])
      loop.services.perform(after: DeliveryQueue.storePatience) { [unowned loop] in recover(upload, on: loop) }
    }
  }
}
