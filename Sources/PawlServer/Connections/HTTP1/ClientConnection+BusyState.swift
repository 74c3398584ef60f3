import PawlLoop
import PawlWire

/// What a connection holds of its request, where it has one: read as nothing where it has none, made when it is first needed.
extension ClientConnection {
  var request: IncomingRequest? {
    get { work?.turn.request }
    set { neededState.turn.request = newValue }
  }

  var exchange: (any Exchange)? {
    get { work?.turn.exchange }
    set { neededState.turn.exchange = newValue }
  }

  /// The request's.
  var content: IncomingContent {
    get { work?.turn.content ?? .none }
    _modify { yield &neededState.turn.content }
  }

  /// Whether some of it may still come, or be told.
  var hasContent: Bool { work.map { !$0.turn.content.isNone } ?? false }
  var contentIsUnended: Bool { work?.turn.content.isUnended ?? false }
  var contentIsHeldBack: Bool { work?.turn.content.isHeldBack ?? false }

  var contentMeter: RateMeter {
    get { work?.turn.meter ?? RateMeter() }
    _modify { yield &neededState.turn.meter }
  }

  var lingering: Lingering {
    get { work?.turn.lingering ?? Lingering(budget: UnwantedContent.limit) }
    _modify { yield &neededState.turn.lingering }
  }

  /// Octets of the answer that are in memory: queued, and how many of them are sent.
  var output: [UInt8] {
    get { work?.output ?? [] }
    _modify { yield &neededState.output }
  }

  var outputSent: Int {
    get { work?.turn.outputSent ?? 0 }
    set { neededState.turn.outputSent = newValue }
  }

  var source: (any BodySource)? {
    get { work?.turn.source }
    set { neededState.turn.source = newValue }
  }

  var unsentFile: BodyPiece? {
    get { work?.turn.unsentFile }
    set { neededState.turn.unsentFile = newValue }
  }

  /// Of the answer's content, to the client.
  var owed: OwedContent {
    get { work?.turn.owed ?? .unknown }
    _modify { yield &neededState.turn.owed }
  }

  /// What of the answer's end TLS kept when it was last looked at, in octets.
  var keptBytes: Int {
    get { work?.turn.keptBytes ?? 0 }
    set { neededState.turn.keptBytes = newValue }
  }

  /// The answer is sent, and nothing is asked.
  func becomeIdle() {
    guard let done = work else { return }
    work = nil
    done.forget()
    if owner.spareStates.count < BusyState.sparesLimit { owner.spareStates.append(done) }
  }

  private var neededState: BusyState {
    if let work { return work }
    let begun = owner.spareStates.popLast() ?? BusyState()
    work = begun
    return begun
  }
}
