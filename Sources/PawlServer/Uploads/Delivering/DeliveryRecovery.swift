import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// Sees to it that what is complete is delivered: after a start, after a reload, and when the operator says so.
enum DeliveryRecovery {
  /// A loop, and what it keeps for uploads.
  struct Home: Sendable {
    let loop: EventLoop
    /// Called on the loop.
    let uploads: @Sendable () -> LoopUploads
  }

  /// Everything that waits goes to a loop of its own choice, the same each time. From any thread.
  /// - Parameters:
  ///   - opened: those of the stores that were opened just now: what is sent there and not answered is judged.
  ///   - homes: the loops there are; asked again for each order of the operator.
  static func begin(stores: [UploadStore], opened: [UploadStore], homes: @escaping @Sendable () -> [Home]) {
    let now = homes()
    guard !now.isEmpty else { return }
    for store in stores {
      let recovers = opened.contains { $0 === store }
      store.onOrder = { order, upload in
        guard order.kind == .resend else { return }
        Self.deliver(upload, on: homes())
      }
      for upload in store.uploads {
        switch upload.status.phase {
        case .complete: Self.deliver(upload, on: now)
        case .sent where recovers:
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

  private static func home(of upload: SpooledUpload, among homes: [Home]) -> Home {
    homes[Int(upload.id.low % UInt64(homes.count))]
  }

  /// Delivers by the route that is right for it now; without one it waits. On the loop.
  static func deliver(_ upload: SpooledUpload, on loop: LoopUploads, isUrgent: Bool) {
    guard let route = route(of: upload, on: loop) else { return }
    loop.queue.enter(upload, route, isUrgent: isUrgent)
  }

  private static func route(of upload: SpooledUpload, on loop: LoopUploads) -> RouteSettings? {
    if let route = loop.services.router.finishing(upload), !route.isOrphan { return route }
    noteWaiting(upload, on: loop)
    return nil
  }

  /// It is complete, and there is nowhere to send it to.
  static func noteWaiting(_ upload: SpooledUpload, on loop: LoopUploads) {
    // What there is no attempt for is not given up for want of one.
    upload.giveUpAt = nil
    let head = upload.origin.head
    loop.events.log(
      .warning, "upload-waiting",
      [
        "upload": upload.id.hex, "host": head.authority.text, "target": head.target.text,
        "why": "no site takes its host",
      ])
  }

  /// The last byte may have gone before pawl ended, and no answer came. On the loop.
  static func recover(_ upload: SpooledUpload, on loop: LoopUploads) {
    guard upload.status.phase == .sent else { return }
    let why = "pawl ended before the answer came"
    let route = loop.services.router.finishing(upload)
    let delivery = route?.uploads?.delivery ?? .atMostOnce
    // What an origin said that it had taken is not sent again by itself.
    guard upload.status.originStatus != nil || DeliveryPolicy.afterRestart(.sent, delivery) == .unknown else {
      // By way of no other phase: whenever pawl ends, what is recorded has it sent again.
      upload.noteAttempt(failed: why, nextAt: nil)
      return deliver(upload, on: loop, isUrgent: false)
    }
    // The operator may take longer than a delivery.
    upload.giveUpAt = nil
    upload.becomeUnknown(why: why, on: loop.loop) { isRecorded in
      guard !isRecorded else { return }
      loop.events.log(.error, "upload-step-not-stored", ["upload": upload.id.hex, "step": "unknown"])
      loop.services.perform(after: DeliveryQueue.storePatience) { [unowned loop] in recover(upload, on: loop) }
    }
  }
}
