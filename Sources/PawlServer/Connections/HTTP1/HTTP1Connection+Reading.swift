import PawlHTTP
import PawlLoop
import PawlWire

extension HTTP1Connection {
  func streamReadable() {
    switch phase {
    case .fresh, .idle, .inHead, .exchanging: readMessages()
    case .flushing, .lingering: readAndDrop()
    case .closed: break
    }
  }

  /// Reads before the kernel has reported that the socket is readable.
  /// - Returns: whether bytes, FIN or an error were there.
  func readEarly() -> Bool {
    connections.loop.noteReady()
    return readMessages()
  }

  /// Bytes read at a time while a head is awaited. Content after the head stays in the kernel until the exchange can take it,
  /// because a copy in newly allocated memory costs as much as writing the content to a file.
  private static let headRead = 16 << 10

  /// Reads once, and handles the messages in what was read.
  /// - Returns: `false` if there was nothing to read.
  @discardableResult
  private func readMessages() -> Bool {
    var buffer = connections.loop.takeReadBuffer()
    let limit = hasContent ? min(buffer.count, connections.loop.readLimit) : Self.headRead
    let result = buffer.withUnsafeMutableBytes {
      stream.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<limit]))
    }
    switch result {
    case .bytes(let count):
      if input.isEmpty {
        let consumed = consume(buffer, 0..<count)
        if consumed < count, phase != .closed { input = Array(buffer[consumed..<count]) }
      } else {
        input.append(contentsOf: buffer[0..<count])
        consumeInput()
      }
      connections.loop.giveReadBuffer(buffer)
      inputConsumed()
    case .wouldBlock:
      connections.loop.giveReadBuffer(buffer)
      return false
    case .end:
      connections.loop.giveReadBuffer(buffer)
      clientHalfClosed()
    case .failed(let code):
      connections.loop.giveReadBuffer(buffer)
      socketFailed(code)
    }
    return true
  }

  /// Handles the kept input. Called after an exchange has ended, or more has been received.
  func consumeInput() {
    guard state.isOpen else { return }
    if input.isEmpty {
      // The last content bytes came while the exchange took no more: only the end is still to be passed on.
      if busy?.turn.content.isEndUntold == true { _ = consumeBody([], 0..<0) }
      return
    }
    let bytes = input
    input = []
    let consumed = consume(bytes, 0..<bytes.count)
    guard state.isOpen, consumed < bytes.count else { return }
    input = consumed == 0 ? bytes : Array(bytes[consumed...])
  }

  /// Starts or stops reading, once all input that can be used now is used. While a request is answered, only about `max-header`
  /// bytes of further requests are read; the rest waits in the kernel. Requests that came before the client's FIN are still
  /// answered.
  func inputConsumed() {
    guard state.isOpen, !contentIsHeldBack else { return }
    if hasClientEnded {
      if state.isWaiting { return finishConnection() }
      return hasContent ? clientBroke("incomplete-request-body") : watchHalfClosed()
    }
    let isCrowded = phase == .exchanging && !hasContent && input.count >= listener.settings.maxHeader
    if isCrowded == stream.isReading { isCrowded ? stream.stopReading() : stream.startReading() }
  }

  /// Parses messages from the front of the range and returns how many bytes were used.
  private func consume(_ buffer: [UInt8], _ range: Range<Int>) -> Int {
    isConsuming = true
    defer { isConsuming = false }
    var position = range.lowerBound
    while position < range.upperBound {
      if hasContent {
        let used = consumeBody(buffer, position..<range.upperBound)
        position += used
        if used == 0 { return position }
      } else if state.isWaiting {
        let isFirst = phase == .fresh && mayBeHTTP2
        if isFirst, isPreface(buffer, position..<range.upperBound) { return position }
        guard let used = consumeHead(buffer, position..<range.upperBound, isFirst: isFirst) else { return position }
        position += used
      } else {
        return position
      }
    }
    return position
  }

  /// Whether the client may begin with HTTP/2 by prior knowledge (RFC 9113 §3.3).
  private var mayBeHTTP2: Bool { listener.settings.http2 != nil && facts.tls == nil }

  /// Whether the received bytes are the HTTP/2 preface or a beginning of it. Once the preface is complete, an ``HTTP2Connection``
  /// takes over, and this connection is closed.
  private func isPreface(_ buffer: [UInt8], _ range: Range<Int>) -> Bool {
    let preface = HTTP2Session.preface
    let count = min(range.count, preface.utf8CodeUnitCount)
    let begins = preface.withUTF8Buffer { $0.prefix(count).elementsEqual(buffer[range].prefix(count)) }
    state.seesPreface(begins)
    if begins, count == preface.utf8CodeUnitCount { becomeHTTP2(Array(buffer[range])) }
    return begins
  }

  /// Whether malformed bytes begin with a line that is not HTTP/1 in any form: three words or more, no version, and a second word
  /// that cannot be a request target (RFC 9112 §3.2).
  private func isOfNoHTTP1(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let end = bytes.firstIndex(of: 0x0a) else { return false }
    let words = bytes[..<end].split(separator: 0x20, omittingEmptySubsequences: false)
    guard words.count > 2, !words.contains(where: { $0.starts(with: "HTTP/".utf8) }) else { return false }
    return !words[1].isEmpty && !words[1].contains { $0 == 0x2f || $0 == 0x3a || $0 == 0x2a }
  }

  /// Parses a head and begins its request. Returns how many bytes were used; `nil` when the head is incomplete or was refused.
  /// - Parameter isFirst: whether these are the first bytes of a connection on which HTTP/2 is allowed. A client that speaks
  ///   neither version gets no response (RFC 9113 §3.4).
  private func consumeHead(_ buffer: [UInt8], _ range: Range<Int>, isFirst: Bool) -> Int? {
    let began = headBegins()
    listener.lendParser(to: self, isSecure: facts.isSecure)
    switch listener.withParser({ $0.parse(buffer, range) }) {
    case .needMore:
      setDeadline(after: listener.settings.headerTimeout - (connections.loop.now - began))
      return nil
    case .refused(let refusal):
      if isFirst, refusal.status == 400, isOfNoHTTP1(buffer[range]) {
        connections.logRefusal(facts, status: 400, bytes: 0, RefusedHead(buffer[range]))
        clientBroke("no-http")
      } else {
        refuse(status: refusal.status, reason: refusal.reason, buffer[range])
      }
      return nil
    case .head(let byteCount):
      headEnds()
      var known: LookedUp?
      if answerAtOnce(buffer, hasMore: byteCount < range.count, known: &known) { return byteCount }
      begin(listener.withParser { $0.makeHead(buffer) }, known, length: byteCount)
      return byteCount
    }
  }

  /// - Parameter length: bytes of the head, for the access log.
  private func begin(_ head: consuming RequestHead, _ known: LookedUp?, length: Int) {
    let options = HopByHop.connectionOptions(head.fields)
    let goesOn = !options.close && (head.version.minor >= 1 || options.keepAlive)
    state.begin(
      HTTP1State.Turn(
        version: head.version, isHead: head.method == .head, persists: goesOn && !connections.isDraining,
        isClientsLast: !goesOn && head.framing == .none))
    if head.framing != .none {
      content = .arriving(BodyDecoder(head.framing))
      contentMeter.restart()
    }
    let framing = head.framing
    let request = connections.makeRequest(head, facts: facts, began: requestBegan, known: known)
    self.request = request
    request.record.requestHeadLength = UInt64(length)
    if framing != .none { setDeadline(after: request.route.minRate.window) }
    let exchange = connections.makeExchange(for: request, channel: self, on: listener)
    self.exchange = exchange
    exchange.start()
    if framing == .length(0), self.exchange != nil { _ = consumeBody([], 0..<0) }
  }

  /// Passes request content to the exchange. Returns how many bytes were used; 0 when they have to wait.
  private func consumeBody(_ buffer: [UInt8], _ range: Range<Int>) -> Int {
    var position = range.lowerBound
    while let event = busy?.turn.content.next(buffer, position..<range.upperBound) {
      switch event {
      case .needMore(let consumed): return position + consumed - range.lowerBound
      case .data(let piece, let consumed):
        position += consumed
        contentMeter.add(piece.count)
        connections.counters.add(.fromClient, UInt64(piece.count))
        request?.record.contentReceived += UInt64(piece.count)
        if !pass(buffer, piece), content.holdBack() { stream.stopReading() }
      case .end(let consumed):
        let trailers = content.end()
        position += consumed
        if !hasResponded { clearDeadline() }
        if state.turn.answer == .sent {
          awaitRequest()
        } else {
          exchange?.requestBodyEnded(trailers)
        }
        return position - range.lowerBound
      case .malformed(let reason):
        content = .none
        malformedBody(reason)
        return range.count
      }
    }
    return position - range.lowerBound
  }

  private func pass(_ buffer: [UInt8], _ content: Range<Int>) -> Bool {
    guard let exchange, !content.isEmpty else { return true }
    return buffer.withUnsafeBytes { exchange.requestBody(UnsafeRawBufferPointer(rebasing: $0[content])) }
  }

  private func malformedBody(_ reason: StaticString) {
    let answered = hasResponded
    request?.record.end = BodyEnd(party: .client, reason: "malformed-body")
    exchange?.clientLeft()
    exchange = nil
    if answered { return cut() }
    refuse(status: 400, reason: reason)
  }

  func resumeRequestBody() {
    guard contentIsHeldBack, phase == .exchanging else { return }
    content.goOn()
    restartRequestBodyTime()
    connections.loop.nextTurn { [self] in
      guard phase == .exchanging, !contentIsHeldBack else { return }
      // All content bytes may have been passed on before the pause: then only the end is left.
      if input.isEmpty { _ = consumeBody([], 0..<0) } else { consumeInput() }
      inputConsumed()
    }
  }

  /// Handles the client's FIN, after which the client may still read (RFC 9112 §9.6).
  private func clientHalfClosed() {
    state.clientEnds()
    stream.stopReading()
    switch phase {
    case .fresh, .idle, .inHead:
      // Requests that came before the FIN may still be in the input, where they wait for the next turn of the loop.
      guard !input.isEmpty else { return close() }
      consumeInput()
      inputConsumed()
    case .exchanging:
      if source?.isLive == true { return clientBroke("closed") }
      if input.isEmpty { state.endsHere() }
      if contentIsUnended { return clientBroke("incomplete-request-body") }
      watchHalfClosed()
    case .flushing, .lingering, .closed: break
    }
  }

  /// Stops reading when enough has been dropped. The client then has ``UnwantedContent/time`` to read its answer, which a reset
  /// would destroy.
  private func stopsDraining() {
    stream.stopReading()
    setDeadline(after: UnwantedContent.time)
  }

  private func readAndDrop() {
    switch lingering.read(on: connections.loop, { stream.read(into: $0) }) {
    case .goesOn: break
    case .enough: if phase == .lingering { stopsDraining() }
    case .ended:
      state.clientEnds()
      stream.stopReading()
      if phase == .lingering { close() }
    case .broken: close()
    }
  }
}
