import PawlLoop
import PawlUploadStore
import PawlUpstream

/// The completed uploads of one loop: those that are being delivered, those that wait for a place, and those that wait for another
/// attempt.
final class DeliveryQueue {
  /// The most deliveries of one loop to one upstream at a time. Each delivery holds a descriptor and a connection.
  static let limit = 64
  /// The time after which a step that could not be recorded is tried again.
  static let storePatience = Duration.seconds(5)

  private struct Waiting {
    let upload: SpooledUpload
    let route: RouteSettings
    let isUrgent: Bool
  }

  private unowned let loopUploads: LoopUploads
  private(set) var running: [UploadID: DeliveryAttempt] = [:]
  /// The deliveries, by upstream, so that an upstream that hangs does not delay uploads to another.
  private var lines: [ObjectIdentifier: DeliveryPlaces<Waiting>] = [:]
  private struct Place: Equatable {
    let upstream: ObjectIdentifier
    let isUrgent: Bool
  }

  /// The uploads that wait, and their upstream. An upload can be in the lines more than once, but it starts only for the upstream
  /// that is noted here, and is removed from here when it starts.
  private var known: [UploadID: Place] = [:]
  private lazy var pauses = DeliveryPauses(loopUploads.loop) { [unowned self] in isDue($0, $1) }
  private var isEnding = false
  private var isStopped = false
  /// Whether no delivery starts for the moment (``hold()``).
  private var isHeld = false
  /// Called after each delivery.
  var whenOneEnded: () -> Void = {}

  init(_ loopUploads: LoopUploads) { self.loopUploads = loopUploads }

  // MARK: - Deliveries

  /// Queues an upload for delivery. Does nothing if its delivery is already queued or running.
  /// - Parameter isUrgent: whether the client waits. If so, the upload is delivered before most uploads whose client does not
  ///   wait.
  func enter(_ upload: SpooledUpload, _ route: RouteSettings, isUrgent: Bool) {
    guard !isStopped, running[upload.id] == nil, upload.status.phase == .complete, !upload.isHandedOver else { return }
    guard !route.isOrphan else { return DeliveryRecovery.noteWaiting(upload, on: loopUploads) }
    pauses.cancel(upload.id)
    let entry = Waiting(upload: upload, route: route, isUrgent: isUrgent)
    let place = Place(upstream: ObjectIdentifier(route.upstream), isUrgent: isUrgent)
    // Queue an upload again if its site has moved to another upstream, or if its client waits now.
    if known[upload.id]?.upstream != place.upstream || (isUrgent && known[upload.id]?.isUrgent == false) {
      known[upload.id] = place
      lines[place.upstream, default: makeLines(route)].append(
        entry, of: upload.client, PlaceMarks.holder(of: upload.origin), isUrgent: isUrgent)
    }
    startNext(to: place.upstream)
  }

  /// Makes the places of an upstream. A client or a path has the same share of these places as of the upstream's connections.
  private func makeLines(_ route: RouteSettings) -> DeliveryPlaces<Waiting> {
    let settings = route.upstream.settings
    return DeliveryPlaces(limit: Self.limit, clientShare: settings.clientShare, pathShare: settings.pathShare)
  }

  private func startNext(to upstream: ObjectIdentifier) {
    guard !isHeld else { return }
    while let (entry, holder) = lines[upstream]?.start(where: { known[$0.upload.id]?.upstream == upstream }) {
      known[entry.upload.id] = nil
      guard let uploads = entry.route.uploads, entry.upload.beginForward() else {
        lines[upstream]?.ended(holder, isQuick: true)
        if entry.route.uploads != nil { lookAgain(at: entry.upload) }
        continue
      }
      let forwarder = DeliveryAttempt(
        entry.upload, route: entry.route, uploads: uploads, on: loopUploads, isUrgent: entry.isUrgent, holder: holder)
      running[entry.upload.id] = forwarder
      loopUploads.services.counters.add(.deliveriesBegan)
      forwarder.start()
    }
    if lines[upstream]?.isIdle == true { lines[upstream] = nil }
  }

  /// Removes an attempt that is over. The upload may get another attempt later.
  func ended(_ forwarder: DeliveryAttempt) {
    let upstream = ObjectIdentifier(forwarder.route.upstream)
    if running[forwarder.upload.id] === forwarder {
      running[forwarder.upload.id] = nil
      loopUploads.services.counters.add(.deliveriesEnded)
      lines[upstream]?.ended(forwarder.holder, isQuick: loopUploads.loop.now - forwarder.began < PlaceShares.quick)
    }
    if forwarder.upload.status.phase != .complete { pauses.forget(forwarder.upload.id) }
    startNext(to: upstream)
    whenOneEnded()
  }

  // MARK: - What is remembered

  /// The uploads whose bytes are known to match their digest, so that they are not read again for this check.
  private var verified: Set<UploadID> = []

  func isVerified(_ upload: SpooledUpload) -> Bool { verified.contains(upload.id) }

  func noteVerified(_ upload: SpooledUpload) {
    if verified.count >= 4096 { verified = [] }
    verified.insert(upload.id)
  }

  // MARK: - Later attempts

  /// Plans the next attempt after one that failed.
  /// - Parameters:
  ///   - time: the time until the next attempt; `nil`: the upload waits for its client.
  ///   - nextAttempt: the time of the next attempt as recorded for the upload; wall clock, seconds since 1970.
  ///   - upstream: the upstream that could not be reached; the next attempt is made as soon as another upload reaches it.
  func pause(
    _ upload: SpooledUpload, for time: Duration?, nextAttempt: Int64?, awaiting upstream: String? = nil
  ) {
    guard !isEnding, !upload.isHandedOver else { return }
    pauses.begin(upload, for: time, nextAttempt: nextAttempt, awaiting: upstream)
  }

  func cameBack(_ upstream: String) { pauses.cameBack(upstream) }

  private func isDue(_ upload: SpooledUpload, _ next: DeliveryPauses.Next) {
    switch next {
    case .attempt: DeliveryRecovery.deliver(upload, on: loopUploads, isUrgent: false)
    case .end: giveUp(upload)
    }
  }

  /// Looks at a complete upload again later: another change to the upload is being recorded, and if that fails, the upload still
  /// has to be delivered or given up.
  private func lookAgain(at upload: SpooledUpload) {
    guard upload.status.phase == .complete, !upload.status.isConcatPartial else { return }
    pause(upload, for: Self.storePatience, nextAttempt: upload.nextAttempt)
  }

  private func giveUp(_ upload: SpooledUpload) {
    let (events, isWaiting) = (loopUploads.events, upload.nextAttempt == nil)
    upload.remove(on: loopUploads.loop) { [self] isRemoved in
      guard isRemoved else { return lookAgain(at: upload) }
      pauses.forget(upload.id)
      events.log(
        isWaiting ? .notice : .error, "upload-given-up",
        [
          "upload": upload.id.hex, "attempts": "\(upload.attempts)", "last-error": upload.lastError ?? "-",
          "why": isWaiting ? "the client did not return after 401" : "it could not be delivered",
        ])
    }
  }

  // MARK: - A new binary takes over

  /// Lets no delivery start; those that run go on.
  func hold() { isHeld = true }

  /// Ends ``hold()``.
  func release() {
    isHeld = false
    for upstream in Array(lines.keys) { startNext(to: upstream) }
  }

  /// Whether all running deliveries could go on while another process has the spools.
  var isLendable: Bool { running.values.allSatisfy(\.isLendable) }

  /// Forgets the uploads that wait, which another process delivers from now on. Deliveries that run are lent.
  func handOver() {
    drain()
    isStopped = true
    (lines, known) = ([:], [:])
  }

  /// Takes uploads again after ``handOver()``.
  func takeBack() { (isEnding, isStopped, isHeld) = (false, false, false) }

  /// Cuts the running deliveries, because no process records their steps any more. The clients that wait are asked to come back.
  func cutLent() {
    let lent = Array(running.values)
    for forwarder in lent { forwarder.cut() }
    running = [:]
    for forwarder in lent { forwarder.upload.notify() }
    whenOneEnded()
  }

  // MARK: - Ending

  /// Begins to end the queue. Running deliveries go on, and deliveries whose client waits may still start. No other deliveries
  /// start.
  func drain() {
    isEnding = true
    for upstream in lines.keys { lines[upstream]?.dropPatient() }
    known = known.filter(\.value.isUrgent)
    pauses.cancelAll()
  }

  /// Cuts the running deliveries. A request without its last byte has no effect. If the complete request was sent, the next start
  /// of pawl decides about the upload (``DeliveryRecovery``).
  func stop() {
    drain()
    isStopped = true
    (lines, known) = ([:], [:])
    for forwarder in Array(running.values) { forwarder.cut() }
    running = [:]
  }
}
