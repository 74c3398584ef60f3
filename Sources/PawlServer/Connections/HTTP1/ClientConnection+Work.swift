import PawlLoop
import PawlWire

/// What a connection holds of its request, where it has one: read as nothing where it has none, made when it is first needed.
extension ClientConnection {
  var request: IncomingRequest? {
    get { work?.request }
    set { neededWork.request = newValue }
  }

  var exchange: (any Exchange)? {
    get { work?.exchange }
    set { neededWork.exchange = newValue }
  }

  var requestBody: BodyDecoder? {
    get { work?.requestBody }
    set { neededWork.requestBody = newValue }
  }

  var requestBodyIsPaused: Bool {
    get { work?.requestBodyIsPaused ?? false }
    set { neededWork.requestBodyIsPaused = newValue }
  }

  var requestBodyMeter: RateMeter {
    get { work?.requestBodyMeter ?? RateMeter() }
    set { neededWork.requestBodyMeter = newValue }
  }

  var lingerBudget: Int {
    get { work?.lingerBudget ?? 0 }
    set { neededWork.lingerBudget = newValue }
  }

  /// Octets of the answer that are in memory: queued, and how many of them are sent.
  var output: [UInt8] {
    get { work?.output ?? [] }
    _modify { yield &neededWork.output }
  }

  var outputSent: Int {
    get { work?.outputSent ?? 0 }
    set { neededWork.outputSent = newValue }
  }

  var source: (any BodySource)? {
    get { work?.source }
    set { neededWork.source = newValue }
  }

  var unsentFile: BodyPiece? {
    get { work?.unsentFile }
    set { neededWork.unsentFile = newValue }
  }

  /// Content octets still owed to the client under a known length.
  var owed: UInt64? {
    get { work?.owed }
    set { neededWork.owed = newValue }
  }

  /// What of the answer's end TLS kept when it was last looked at, in octets.
  var keptBytes: Int {
    get { work?.keptBytes ?? 0 }
    set { neededWork.keptBytes = newValue }
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
