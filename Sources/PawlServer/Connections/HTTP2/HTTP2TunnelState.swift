/// Where the two directions of a tunnel over HTTP/2 are. Pure: each event has one function, which says whether it was
/// possible; ``HTTP2Tunnel`` does what follows.
struct HTTP2TunnelState: Hashable {
  /// The tunnel's reading of what the client sends.
  enum Reading: CaseIterable {
    case stopped, reading
    /// Nothing is read or written any more.
    case closed
  }

  enum Client: CaseIterable {
    case sending
    /// END_STREAM has come.
    case ended
    /// The stream is gone before its end.
    case broken
  }

  /// What goes to the client.
  enum Outgoing: CaseIterable {
    case flowing
    /// The origin waits until the client has taken more.
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

  /// As much waits for the client as may.
  mutating func fills() {
    if outgoing == .flowing { outgoing = .full }
  }

  /// The client has taken enough.
  /// - Returns: whether somebody waits for that.
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
