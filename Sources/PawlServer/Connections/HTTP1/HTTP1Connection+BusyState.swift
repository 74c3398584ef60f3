import PawlLoop
import PawlWire

/// What a connection holds of its request, where it has one: read as nothing where it has none, made when it is first needed.
extension HTTP1Connection {
  var request: IncomingRequest? {
    get { busy?.turn.request }
    set { neededState.turn.request = newValue }
  }

  var exchange: (any Exchange)? {
    get { busy?.turn.exchange }
    set { neededState.turn.exchange = newValue }
  }

  /// The request's.
  var content: IncomingContent {
    get { busy?.turn.content ?? .none }
    _modify { yield &neededState.turn.content }
  }

  /// Whether some of it may still come, or be told.
  var hasContent: Bool { busy.map { !$0.turn.content.isNone } ?? false }
  var contentIsUnended: Bool { busy?.turn.content.isUnended ?? false }
  var contentIsHeldBack: Bool { busy?.turn.content.isHeldBack ?? false }

  var contentMeter: RateMeter {
    get { busy?.turn.meter ?? RateMeter() }
    _modify { yield &neededState.turn.meter }
  }

  var lingering: Lingering {
    get { busy?.turn.lingering ?? Lingering(budget: UnwantedContent.limit) }
    _modify { yield &neededState.turn.lingering }
  }

  /// Bytes of the answer that are in memory: queued, and how many of them are sent.
  var output: [UInt8] {
    get { busy?.output ?? [] }
    _modify { yield &neededState.output }
  }

  var outputSent: Int {
    get { busy?.turn.outputSent ?? 0 }
    set { neededState.turn.outputSent = newValue }
  }

  var source: (any BodySource)? {
    get { busy?.turn.source }
    set { neededState.turn.source = newValue }
  }

  var unsentFile: BodyPiece? {
    get { busy?.turn.unsentFile }
    set { neededState.turn.unsentFile = newValue }
  }

  var pieceLimit: Int {
    get { busy?.turn.pieceLimit ?? BusyState.firstPiece }
    set { neededState.turn.pieceLimit = newValue }
  }

  /// Of the answer's content, to the client.
  var owed: OwedContent {
    get { busy?.turn.owed ?? .unknown }
    _modify { yield &neededState.turn.owed }
  }

  /// What of the answer's end TLS kept when it was last looked at, in bytes.
  var keptBytes: Int {
    get { busy?.turn.keptBytes ?? 0 }
    set { neededState.turn.keptBytes = newValue }
  }

  /// The answer is sent, and nothing is asked.
  func becomeIdle() {
    guard let done = busy else { return }
    busy = nil
    done.forget()
    if connections.spareStates.count < BusyState.sparesLimit { connections.spareStates.append(done) }
  }

  private var neededState: BusyState {
    if let busy { return busy }
    let begun = connections.spareStates.popLast() ?? BusyState()
    busy = begun
    return begun
  }
}
