import PawlLoop
import PawlStore

/// One loop's completed uploads: those on their way to an origin, those that wait for a place, and those that wait for
/// another attempt.
final class UploadQueue {
  /// Deliveries of one loop at a time: each holds a descriptor and a connection.
  static let limit = 64

  private struct Waiting {
    let upload: SpooledUpload
    let route: RouteSettings
    let isUrgent: Bool
  }

  private unowned let owner: ServerLoop
  private(set) var running: [UploadID: UploadForwarder] = [:]
  private var urgent = Line<Waiting>()
  private var patient = Line<Waiting>()
  /// Those in the lines; who is there twice is taken once.
  private var known: [UploadID: Bool] = [:]
  private var timers: [UploadID: LoopTimer] = [:]
  private var isEnding = false
  private var isStopped = false

  init(_ owner: ServerLoop) { self.owner = owner }

  // MARK: - Deliveries

  /// An upload is to be delivered now; nothing happens where it is on its way already.
  /// - Parameter isUrgent: a client waits: it comes before those that nobody waits for.
  func enter(_ upload: SpooledUpload, _ route: RouteSettings, isUrgent: Bool) {
    guard !isStopped, running[upload.id] == nil, upload.status.phase == .complete else { return }
    timers.removeValue(forKey: upload.id)?.close()
    let entry = Waiting(upload: upload, route: route, isUrgent: isUrgent)
    if known[upload.id] == nil || (isUrgent && known[upload.id] == false) {
      known[upload.id] = isUrgent
      if isUrgent { urgent.append(entry) } else { patient.append(entry) }
    }
    startNext()
  }

  private func startNext() {
    while running.count < Self.limit, let entry = urgent.popFirst() ?? patient.popFirst() {
      guard known.removeValue(forKey: entry.upload.id) != nil, let uploads = entry.route.uploads,
        entry.upload.beginForward()
      else { continue }
      let forwarder = UploadForwarder(
        entry.upload, route: entry.route, uploads: uploads, on: owner, isUrgent: entry.isUrgent)
      running[entry.upload.id] = forwarder
      forwarder.start()
    }
  }

  /// A delivery is over, or will go on later.
  func ended(_ forwarder: UploadForwarder) {
    running[forwarder.upload.id] = nil
    startNext()
    if isEnding { owner.server.drained(owner) }
  }

  // MARK: - What is remembered

  /// Uploads whose bytes were found to be what their digest says; read once only.
  private var verified: Set<UploadID> = []
  private var reminders: [ObjectIdentifier: LoopTimer] = [:]

  func isVerified(_ upload: SpooledUpload) -> Bool { verified.contains(upload.id) }

  func noteVerified(_ upload: SpooledUpload) {
    if verified.count >= 4096 { verified = [] }
    verified.insert(upload.id)
  }

  func forget(after delay: Duration, _ action: @escaping () -> Void) {
    var id: ObjectIdentifier?
    let timer = owner.loop.makeTimer { [weak self] in
      action()
      if let id { self?.reminders[id] = nil }
    }
    id = ObjectIdentifier(timer)
    reminders[ObjectIdentifier(timer)] = timer
    timer.schedule(after: delay)
  }

  // MARK: - Later attempts

  /// Looks at the upload again after so long.
  func look(at upload: SpooledUpload, after delay: Duration) {
    guard !isEnding else { return }
    timers.removeValue(forKey: upload.id)?.close()
    let timer = owner.loop.makeTimer { [weak self] in self?.isDue(upload) }
    timers[upload.id] = timer
    timer.schedule(after: delay)
  }

  private func isDue(_ upload: SpooledUpload) {
    timers.removeValue(forKey: upload.id)?.close()
    guard upload.status.phase == .complete else { return }
    let now = owner.loop.wallSeconds
    if let end = upload.giveUpAt, end <= now { return giveUp(upload) }
    guard let next = upload.nextAttempt else {
      // Only a client can make the next attempt better.
      if let end = upload.giveUpAt { look(at: upload, after: .seconds(end - now)) }
      return
    }
    // Another loop has tried meanwhile.
    guard next <= now else { return look(at: upload, after: .seconds(next - now)) }
    UploadStart.deliver(upload, on: owner, isUrgent: false)
  }

  private func giveUp(_ upload: SpooledUpload) {
    let events = owner.events
    upload.remove(on: owner.loop) { isRemoved in
      guard isRemoved else { return }
      events.log(
        .error, "upload-given-up",
        ["upload": upload.id.hex, "attempts": "\(upload.attempts)", "last-error": upload.lastError ?? "-"])
    }
  }

  // MARK: - Ending

  /// What runs may end, and what clients still wait for; nothing else begins.
  func drain() {
    isEnding = true
    patient = Line()
    known = known.filter(\.value)
    for timer in timers.values { timer.close() }
    timers = [:]
  }

  /// What still runs is cut: a request without its last byte is none, and what was sent is told at the next start.
  func stop() {
    drain()
    isStopped = true
    urgent = Line()
    known = [:]
    for forwarder in Array(running.values) { forwarder.cut() }
    running = [:]
  }
}

/// First in, first out, without moving what waits.
private struct Line<Element> {
  private var elements: [Element?] = []
  private var first = 0

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard first < elements.count else { return nil }
    let element = elements[first]
    elements[first] = nil
    first += 1
    if first == elements.count { (elements, first) = ([], 0) }
    return element
  }
}
