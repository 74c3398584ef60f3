/// Decides how the loop prefers sockets on which a response is awaited, such as the response of an origin. While responses are
/// awaited, the turns of the loop are short, so that a response is read soon after it has come. The socket of an awaited response
/// is served before other sockets, so that a request that is nearly done does not wait for new requests. Only the first bytes of
/// a response are preferred, so that many or long responses do not starve the other sockets.
struct AwaitedResponses: Sendable {
  /// The number of sockets that are served in one turn while responses are awaited. The other sockets are served in the next
  /// turn.
  static let shortTurn = 16
  /// The number of responses that can be preferred at a time. Further responses are read in normal order, so that too many
  /// preferred responses do not delay new requests.
  static let most = 32
  /// The number of short turns after the last request. A response that takes more turns than this gains nothing from short turns,
  /// and short turns cost all other connections time.
  static let patience = 256

  private var count = 0
  private var ready = 0
  private var turnsLeft = 0

  /// Counts one more awaited response.
  /// - Returns: `false` if the limit is reached; the response is not counted then.
  mutating func begin() -> Bool {
    guard count < Self.most else { return false }
    count &+= 1
    turnsLeft = Self.patience
    return true
  }

  mutating func end() { count &-= 1 }

  mutating func turnBegins() {
    ready = 0
    if turnsLeft > 0 { turnsLeft &-= 1 }
  }

  /// Counts a socket that is served in this turn.
  /// - Returns: whether the turn is over.
  mutating func noteReady() -> Bool {
    ready &+= 1
    return isTurnOver
  }

  var isTurnOver: Bool { ready >= Self.shortTurn && count > 0 && turnsLeft > 0 }
}
