import PawlLoop
import PawlWire

/// The parts of ``BusyState`` as properties of the connection: while the connection has no busy state, they read as empty; the
/// first write creates the busy state.
extension HTTP1Connection {
  var request: IncomingRequest? {
    get { busy?.turn.request }
    set { neededState.turn.request = newValue }
  }

  var exchange: (any Exchange)? {
    get { busy?.turn.exchange }
    set { neededState.turn.exchange = newValue }
  }

  /// The content of the request.
  var content: IncomingContent {
    get { busy?.turn.content ?? .none }
    _modify { yield &neededState.turn.content }
  }

  /// Whether content, or its end, is still to be received or passed on.
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

  /// The bytes of the answer in memory; the first ``outputSent`` of them are sent.
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

  /// The content of the answer that is still to be sent.
  var owed: OwedContent {
    get { busy?.turn.owed ?? .unknown }
    _modify { yield &neededState.turn.owed }
  }

  /// The number of encrypted bytes at the end of the answer that the kernel had not yet taken at the last count.
  var keptBytes: Int {
    get { busy?.turn.keptBytes ?? 0 }
    set { neededState.turn.keptBytes = newValue }
  }

  var looks: UInt8 {
    get { busy?.turn.looks ?? 0 }
    set { neededState.turn.looks = newValue }
  }

  /// Frees the busy state after the answer is sent, or keeps it as a spare for another connection.
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
