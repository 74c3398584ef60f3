import PawlLoop
import PawlWire

/// What a connection holds of its request, where it has one: read as nothing where it has none, made when it is first needed.
extension ClientConnection {
  var request: IncomingRequest? {
    get { work?.turn.request }
    set { neededWork.turn.request = newValue }
  }

  var exchange: (any Exchange)? {
    get { work?.turn.exchange }
    set { neededWork.turn.exchange = newValue }
  }

  /// The request's.
  var content: IncomingContent {
    get { work?.turn.content ?? .none }
    _modify { yield &neededWork.turn.content }
  }

  /// Whether some of it may still come, or be told.
  var hasContent: Bool { work.map { !$0.turn.content.isNone } ?? false }
  var contentIsUnended: Bool { work?.turn.content.isUnended ?? false }
  var contentIsHeldBack: Bool { work?.turn.content.isHeldBack ?? false }

  var contentMeter: RateMeter {
    get { work?.turn.meter ?? RateMeter() }
    _modify { yield &neededWork.turn.meter }
  }

  var lingering: Lingering {
    get { work?.turn.lingering ?? Lingering(budget: UnwantedContent.limit) }
    _modify { yield &neededWork.turn.lingering }
  }

  /// Octets of the answer that are in memory: queued, and how many of them are sent.
  var output: [UInt8] {
    get { work?.output ?? [] }
    _modify { yield &neededWork.output }
  }

  var outputSent: Int {
    get { work?.turn.outputSent ?? 0 }
    set { neededWork.turn.outputSent = newValue }
  }

  var source: (any BodySource)? {
    get { work?.turn.source }
    set { neededWork.turn.source = newValue }
  }

  var unsentFile: BodyPiece? {
    get { work?.turn.unsentFile }
    set { neededWork.turn.unsentFile = newValue }
  }

  /// Of the answer's content, to the client.
  var owed: OwedContent {
    get { work?.turn.owed ?? .unknown }
    _modify { yield &neededWork.turn.owed }
  }

  /// What of the answer's end TLS kept when it was last looked at, in octets.
  var keptBytes: Int {
    get { work?.turn.keptBytes ?? 0 }
    set { neededWork.turn.keptBytes = newValue }
  }

  /// The answer is sent, and nothing is asked.
  func letGoOfWork() {
    guard let done = work else { return }
    work = nil
    done.forget()
    if owner.spareWorks.count < ConnectionWork.sparesLimit { owner.spareWorks.append(done) }
  }

  private var neededWork: ConnectionWork {
    if let work { return work }
    let begun = owner.spareWorks.popLast() ?? ConnectionWork()
    work = begun
    return begun
  }
}
