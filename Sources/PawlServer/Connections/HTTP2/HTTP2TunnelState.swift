/// The state of the two directions of a tunnel over HTTP/2.
///
/// Only keeps the state; ``HTTP2Tunnel`` acts on it. Each event has one function; those that return a `Bool` return whether the
/// state changed.
struct HTTP2TunnelState: Hashable {
  /// Whether the tunnel reads what the client sends.
  enum Reading: CaseIterable {
    case stopped, reading
    /// Nothing is read or written any more.
    case closed
  }

  enum Client: CaseIterable {
    case sending
    /// END_STREAM has come.
    case ended
    /// The stream was closed before END_STREAM.
    case broken
  }

  /// The direction to the client.
  enum Outgoing: CaseIterable {
    case flowing
    /// Nothing is read from the origin until the client has taken enough of the waiting bytes.
    case full
    /// The origin has ended.
    case ended
  }

  private(set) var reading = Reading.stopped
  private(set) var client = Client.sending
  private(set) var outgoing = Outgoing.flowing

  // MARK: From the client

  mutating func startReading() -> Bool {
    guard reading == .stopped else { return false }
    reading = .reading
    return true
  }

  mutating func stopReading() {
    if reading == .reading { reading = .stopped }
  }

  mutating func clientEnds() {
    if client == .sending { client = .ended }
  }

  mutating func clientBreaks() { client = .broken }

  // MARK: Towards the client

  /// Notes that the number of waiting bytes has reached its limit.
  mutating func fills() {
    if outgoing == .flowing { outgoing = .full }
  }

  /// Notes that the client has taken enough of the waiting bytes, so that more may be read from the origin.
  /// - Returns: whether reading from the origin was paused (``Outgoing/full``), and has to go on now.
  mutating func empties() -> Bool {
    guard outgoing == .full else { return false }
    outgoing = .flowing
    return true
  }

  mutating func originEnds() { outgoing = .ended }

  // MARK: Both

  mutating func close() -> Bool {
    guard reading != .closed else { return false }
    reading = .closed
    return true
  }
}
