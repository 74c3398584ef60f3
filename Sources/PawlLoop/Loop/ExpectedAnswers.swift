/// Answers that are awaited: a turn is short while there are some, so that they are found soon after they came. They are served
/// before those who ask for something new: who is nearly done waits for nobody who has just come. Each answer goes first once,
/// so that many or long ones keep nobody else from being served.
struct ExpectedAnswers: Sendable {
  /// Sockets that are served in a turn while answers are awaited; those that are left are served in the next.
  static let shortTurn = 16
  /// Answers that go first at a time: where more are awaited than that, the others come in their turn, so that who asks for
  /// something new does not wait for a crowd.
  static let most = 32
  /// Turns after the last request in which they are short: an answer that takes long has no use of it, and all others pay for it.
  static let patience = 256

  private var count = 0
  private var ready = 0
  private var turnsLeft = 0

  /// - Returns: `false` where there are as many as may be; it is not counted.
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

  /// - Returns: whether the turn is over.
  mutating func noteReady() -> Bool {
    ready &+= 1
    return isTurnOver
  }

  var isTurnOver: Bool { ready >= Self.shortTurn && count > 0 && turnsLeft > 0 }
}
