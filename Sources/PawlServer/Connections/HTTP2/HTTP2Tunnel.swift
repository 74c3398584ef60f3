import PawlHTTP
import PawlLoop

/// The client's side of a ``Tunnel`` over HTTP/2 (RFC 8441): the contents of the request and of the answer carry the bytes. The
/// end of a direction is END_STREAM here and FIN at the origin. If one side breaks, the other is reset.
final class HTTP2Tunnel: Exchange, ByteStream, BodySource {
  /// The most bytes that wait here for the client; at this limit nothing more is read from the origin.
  static let highWater = 64 << 10
  private static let lowWater = 16 << 10
  /// The time after which an origin that reads nothing is cut off. This limit applies once both directions have ended, while
  /// bytes of the client are still to be sent to the origin.
  static let restTime = Duration.seconds(60)

  weak var delegate: (any StreamDelegate)?
  weak var consumer: (any BodyConsumer)?
  private var state = HTTP2TunnelState()
  /// `nil` when both sides have ended. Bytes of the client may then still be on their way to the origin.
  private weak var channel: (any ResponseChannel)?
  private unowned let connections: LoopConnections
  private var tunnel: Tunnel?
  private var received = ChunkQueue()
  private var outgoing = ChunkQueue()
  private var timer: LoopTimer?
  /// Whether the origin has taken bytes since the timer was set.
  private var isTaken = false

  init(channel: any ResponseChannel, connections: LoopConnections) {
    (self.channel, self.connections) = (channel, connections)
  }

  private var loop: EventLoop { connections.loop }
  var isReading: Bool { state.reading == .reading }
  var isClosed: Bool { state.reading == .closed }

  /// Starts the tunnel.
  /// - Parameter holding: an object that is kept alive as long as the tunnel lasts.
  func start(_ origin: SocketStream, leftover: [UInt8], holding: AnyObject) {
    let tunnel = Tunnel(client: self, origin: origin, toClient: leftover, toOrigin: []) { [weak self] _, _ in
      _ = holding
      self?.isOver()
    }
    self.tunnel = tunnel
    tunnel.start()
  }

  private func isOver() {
    tunnel = nil
    timer?.close()
    timer = nil
    connections.tunnels[ObjectIdentifier(self)] = nil
  }

  // MARK: - As an exchange: from the client

  func start() {}

  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard !isClosed else { return true }
    received.append(bytes)
    tell()
    return received.isEmpty
  }

  func requestBodyEnded(_ trailers: Fields) {
    state.clientEnds()
    tell()
  }

  func clientLeft() {
    state.clientBreaks()
    tunnel?.over(isBroken: true)
  }

  /// Handles the end of both sides and of the stream: the loop keeps the tunnel until the origin has taken the remaining bytes.
  func responseSent() {
    guard let tunnel else { return }
    connections.tunnels[ObjectIdentifier(self)] = tunnel
    let timer = loop.makeTimer { [weak self] in self?.lookAtRest() }
    self.timer = timer
    timer.schedule(after: Self.restTime)
  }

  private func lookAtRest() {
    guard isTaken else { return tunnel?.over(isBroken: true) ?? () }
    isTaken = false
    timer?.schedule(after: Self.restTime)
  }

  // MARK: - As a stream of bytes, read and written by the tunnel

  func startReading() {
    guard state.startReading() else { return }
    if !received.isEmpty || state.client == .ended { loop.nextTurn { [weak self] in self?.tell() } }
  }

  func stopReading() { state.stopReading() }

  /// Calls the tunnel until it has read all received bytes, or stops reading.
  private func tell() {
    while isReading, let delegate, !received.isEmpty { delegate.streamReadable() }
    if isReading, state.client == .ended, received.isEmpty { delegate?.streamReadable() }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
    guard let (bytes, range) = received.next(limit: buffer.count) else {
      guard state.client == .ended else { return .wouldBlock }
      state.stopReading()
      return .end
    }
    isTaken = true
    bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[range])) }
    if received.isEmpty { channel?.resumeRequestBody() }
    return .bytes(range.count)
  }

  func write(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult {
    guard !isClosed, state.outgoing != .ended else { return .failed(0) }
    let room = Self.highWater - outgoing.count
    guard room > 0 else { return .wouldBlock }
    let count = min(room, bytes.count)
    outgoing.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    consumer?.bodyIsReady()
    return .bytes(count)
  }

  func wantWritable() { state.fills() }

  func shutdownWrite() {
    state.originEnds()
    consumer?.bodyIsReady()
  }

  func close() {
    guard state.close() else { return }
    delegate = nil
    received.removeAll()
    shutdownWrite()
  }

  func reset() {
    guard state.close() else { return }
    delegate = nil
    received.removeAll()
    if state.client != .broken { channel?.abandon(BodyEnd(party: .origin, reason: "tunnel-broke")) }
  }

  // MARK: - As content: towards the client

  func next(limit: Int) -> BodyPiece {
    guard let (bytes, range) = outgoing.next(limit: limit) else { return state.outgoing == .ended ? .end : .later }
    if outgoing.count <= Self.lowWater, state.empties() {
      loop.nextTurn { [weak self] in self?.delegate?.streamWritable() }
    }
    return .memory(bytes, range)
  }

  func finish() { outgoing.removeAll() }
}
