import PawlHTTP
import PawlLoop
import PawlWire

/// The receiving of the response: bytes from the stream become heads and content for the delegate.
extension OriginExchange {
  /// The most bytes that are read in one turn of the loop if no other connection is ready. If others are ready, only a part of this
  /// number is read.
  private static let turn = 1 << 20

  func streamReadable() {
    guard case .connected(let connection) = phase, !isPaused else { return }
    var buffer = loop.takeReadBuffer()
    defer { loop.giveReadBuffer(buffer) }
    let share = loop.turnShare(of: Self.turn)
    var budget = share
    while isReceiving(on: connection) {
      if budget <= 0 {
        guard let last = response.lastPiece(within: share) else { return }
        budget = last
      }
      let limit = min(loop.readLimit, budget)
      let result = buffer.withUnsafeMutableBytes {
        connection.stream.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<limit]))
      }
      switch result {
      case .bytes(let count):
        budget -= count
        receive(buffer, count, on: connection)
        // The socket had no more bytes. The loop reports it as readable when more bytes come.
        if count < limit { return }
      case .wouldBlock: return
      case .end: return originClosed(connection)
      case .failed(let code): return originFailed(connection, code)
      }
    }
  }

  private func receive(_ buffer: borrowing [UInt8], _ count: Int, on connection: OriginConnection) {
    response.takeBytes()
    if response.held.isEmpty {
      isDelivering = true
      let used = deliver(buffer, 0..<count, on: connection)
      isDelivering = false
      if !isOver, used < count { response.held = Array(buffer[used..<count]) }
      delegate?.exchangeDelivered(self)
    } else {
      response.held.append(contentsOf: buffer[..<count])
      receiveHeld()
    }
    updatePatience(hasProgress: true)
  }

  /// Delivers the bytes that were held back, as many as possible.
  func receiveHeld() {
    guard case .connected(let connection) = phase else { return }
    var whole: [UInt8] = []
    swap(&whole, &response.held)
    isDelivering = true
    let used = deliver(whole, 0..<whole.count, on: connection)
    isDelivering = false
    if !isOver, used < whole.count {
      whole.removeFirst(used)
      response.held = whole
    }
    delegate?.exchangeDelivered(self)
  }

  /// Delivers bytes of the range to the delegate. Returns how many are used up.
  private func deliver(_ buffer: borrowing [UInt8], _ range: Range<Int>, on connection: OriginConnection) -> Int {
    var at = range.lowerBound
    while isReceiving(on: connection) {
      let rest = at..<range.upperBound
      if response.hasFinalHead {
        switch response.decoder.next(buffer, rest) {
        case .needMore(let consumed): return at + consumed
        case .data(let piece, let consumed):
          at += consumed
          bodyBytesReceived += UInt64(piece.count)
          pool.counters.add(.bytesReceived, UInt64(piece.count))
          buffer.withUnsafeBytes {
            delegate?.exchange(self, body: UnsafeRawBufferPointer(rebasing: $0[piece]))
          }
        case .end(let consumed):
          complete(hasMore: at + consumed < range.upperBound)
        case .malformed(let reason):
          fail(ProxyError(.httpResponseTransferCoding, details: "\(reason)"))
        }
      } else {
        switch connection.parser.parse(buffer, rest) {
        case .needMore: return at
        case .refused(let error): fail(error)
        case .head(let head, let count):
          at += count
          buffer.withUnsafeBytes {
            take(head, on: connection, before: UnsafeRawBufferPointer(rebasing: $0[at..<range.upperBound]))
          }
        }
      }
    }
    return at
  }

  /// - Parameter rest: the bytes that came after the head.
  private func take(_ head: ResponseHead, on connection: OriginConnection, before rest: UnsafeRawBufferPointer) {
    switch head.status {
    case 101: switchProtocols(head, on: connection, leftover: Array(rest))
    case 100..<200: takeInterim(head)
    default:
      takeFinal(OriginReferences.areIn(head.fields) ? unbound(head) : head, before: rest)
    }
  }

  /// Rewrites `Location` and `Content-Location` that name the address of a node into paths, so that clients stay on pawl and see no
  /// address of the inside (nginx: `proxy_redirect`, Apache: `ProxyPassReverse`).
  private func unbound(_ received: ResponseHead) -> ResponseHead {
    var head = received
    for url in upstream.settings.urls where !url.isUnix {
      let origin = OriginAddress(
        host: Bytes(url.host), port: url.port, isSecure: url.serverName != nil, base: Bytes(url.basePath))
      OriginReferences.unbind(&head.fields, from: origin, asked: request.head.authority)
    }
    return head
  }

  private func switchProtocols(_ head: ResponseHead, on connection: OriginConnection, leftover: [UInt8]) {
    guard request.isUpgrade else {
      return fail(ProxyError(.httpProtocolError, details: "101 without an upgrade having been asked for"))
    }
    guard output.isSent else {
      return fail(ProxyError(.httpUpgradeFailed, details: "101 before the request was complete"))
    }
    guard becomeLive(on: connection) else { return }
    noteAnswer(head.status)
    handOver(connection, head: head, leftover: leftover)
  }

  private func takeInterim(_ head: ResponseHead) {
    response.interimCount += 1
    guard response.interimCount <= ResponseInput.interimLimit else {
      return fail(ProxyError(.httpProtocolError, details: "too many interim responses"))
    }
    delegate?.exchange(self, interim: head)
  }

  private func takeFinal(_ head: ResponseHead, before rest: UnsafeRawBufferPointer) {
    let framing: BodyFraming
    do {
      framing = try responseFraming(head, requestMethod: request.head.method)
    } catch {
      return fail(error)
    }
    if LiveStream.isOne(head.fields), framing != .none, case .connected(let connection) = phase {
      guard becomeLive(on: connection) else { return }
    }
    noteAnswer(head.status)
    upstream.count(status: head.status, of: preferredURL)
    response.takeFinal(head, framing, isEarly: !output.isSent)
    countResponse(head.status)
    // A response is early if its head comes before the request is completely sent. After an early response of 300 or above the rest
    // of the request is discarded. After an early 2xx the rest is sent until the response ends, because some origins respond while
    // they read. If `outlivesAnswer` accepts the status, the request is sent to its end.
    if response.isEarly, request.outlivesAnswer?(head.status) == true { response.outlive() }
    if response.isEarly, head.status >= 300, !response.letsRequestEnd { output.stop() }
    response.whole = ResponseInput.whole(framing, in: rest).map { ($0, $0.count < rest.count) }
    delegate?.exchange(self, head: head, framing: framing)
    response.whole = nil
    askForBody()
  }

  /// Returns all of the content, if it came with the head. Call this only from within
  /// ``OriginExchangeDelegate/exchange(_:head:framing:)``; the bytes are valid until that returns. If bytes are returned, the
  /// exchange is over, and its delegate is not called any more. `nil`: the content comes in pieces.
  package func takeContent() -> UnsafeRawBufferPointer? {
    guard let (content, hasMore) = response.whole, !isOver, !isPaused else { return nil }
    bodyBytesReceived = UInt64(content.count)
    pool.counters.add(.bytesReceived, bodyBytesReceived)
    _ = release(reusable: isReusable(hasMore: hasMore))
    return content
  }

  /// Ends the exchange, or waits for the end of the request, when the response is complete (RFC 9112 §8). `hasMore`: bytes that
  /// belong to no response came after the response, so the connection is not reused (Hygiene, "bytes behind the response").
  private func complete(hasMore: Bool) {
    if !output.isSent, response.endBeforeRequest() { return awaitRequest() }
    let trailers = response.decoder.trailers
    release(reusable: isReusable(hasMore: hasMore))?.exchangeEnded(self, trailers: trailers)
  }

  private func isReusable(hasMore: Bool) -> Bool {
    response.keepsAlive && !response.isEarly && output.isSent && !hasMore
  }

  private func originClosed(_ connection: OriginConnection) {
    if response.hasFinalHead {
      guard response.decoder.endOfStreamIsComplete() else {
        return fail(ProxyError(.httpResponseIncomplete, details: "closed after \(bodyBytesReceived) bytes of content"))
      }
      response.takeEnd()
      return complete(hasMore: false)
    }
    if response.hasBegun {
      return fail(ProxyError(.httpResponseIncomplete, details: "closed before the end of the head"))
    }
    let why = "closed before the first byte of a response"
    if retry(after: connection, why) { return }
    fail(ProxyError(.connectionTerminated, details: why))
  }

  private func originFailed(_ connection: OriginConnection, _ code: CInt) {
    if !response.hasBegun, retry(after: connection, errorText(code), isReset: true) { return }
    guard let failure = connection.stream.tlsFailure else {
      return fail(ProxyError(.connectionTerminated, details: errorText(code)), isReset: true)
    }
    // With TLS 1.3 an origin refuses a client certificate, or its absence, only after the handshake is over on this side.
    let error = ProxyError(failure, address: connection.peer)
    pool.upstream.handshakeFailed(error)
    fail(error)
  }
}
