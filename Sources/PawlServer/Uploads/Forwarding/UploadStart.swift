import PawlHTTP
import PawlLoop
import PawlStore
import PawlUpload

/// Sees to it that what is complete is delivered: after a start, after a reload, and when the operator says so.
enum UploadStart {
  /// Everything that waits goes to a loop of its own choice, the same each time. From any thread.
  /// - Parameter opened: those of the stores that were opened just now: what is sent there and not answered is judged.
  static func begin(_ server: Server, stores: [UploadStore], opened: [UploadStore]) {
    let loops = server.loops
    guard !loops.isEmpty else { return }
    for store in stores {
      let recovers = opened.contains { $0 === store }
      store.onOrder = { [weak server] order, upload in
        guard let server, order.kind == .resend else { return }
        Self.deliver(upload, of: server)
      }
      for upload in store.uploads {
        switch upload.status.phase {
        case .complete: Self.deliver(upload, of: server)
        case .sent where recovers:
          let entry = Self.home(of: upload, among: loops)
          entry.loop.run { Self.recover(upload, on: entry.server.get()) }
        case .open, .forwarding, .sent, .answered, .unknown, .invalid, .removed: break
        }
      }
    }
  }

  private static func deliver(_ upload: SpooledUpload, of server: Server) {
    guard !server.loops.isEmpty else { return }
    let entry = home(of: upload, among: server.loops)
    entry.loop.run { deliver(upload, on: entry.server.get(), isUrgent: false) }
  }

  private static func home(of upload: SpooledUpload, among loops: [Server.RunningLoop]) -> Server.RunningLoop {
    loops[Int(upload.id.low % UInt64(loops.count))]
  }

  /// Delivers by the route that is right for it now; without one it waits. On the loop.
  static func deliver(_ upload: SpooledUpload, on loop: ServerLoop, isUrgent: Bool) {
    guard let route = route(of: upload, on: loop) else { return }
    loop.uploads.enter(upload, route, isUrgent: isUrgent)
  }

  private static func route(of upload: SpooledUpload, on loop: ServerLoop) -> RouteSettings? {
    if let route = loop.router.finishing(upload), !route.isOrphan { return route }
    noteWaiting(upload, on: loop)
    return nil
  }

  /// It is complete, and there is nowhere to send it to.
  static func noteWaiting(_ upload: SpooledUpload, on loop: ServerLoop) {
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
  static func recover(_ upload: SpooledUpload, on loop: ServerLoop) {
    guard upload.status.phase == .sent else { return }
    let why = "pawl ended before the answer came"
    let route = loop.router.finishing(upload)
    let delivery = route?.uploads?.delivery ?? .atMostOnce
    // What an origin said that it had taken is not sent again by itself.
    guard upload.status.originStatus != nil || ForwardPolicy.afterRestart(.sent, delivery) == .unknown else {
      // By way of no other phase: whenever pawl ends, what is recorded has it sent again.
      upload.noteAttempt(failed: why, nextAt: nil)
      return deliver(upload, on: loop, isUrgent: false)
    }
    // The operator may take longer than a delivery.
    upload.giveUpAt = nil
    upload.becomeUnknown(why: why, on: loop.loop) { isRecorded in
      guard !isRecorded else { return }
      loop.events.log(.error, "upload-step-not-stored", ["upload": upload.id.hex, "step": "unknown"])
      loop.uploads.perform(after: UploadQueue.storePatience) { [unowned loop] in recover(upload, on: loop) }
    }
  }
}
