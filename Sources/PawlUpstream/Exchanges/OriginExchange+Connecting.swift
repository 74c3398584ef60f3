import PawlHTTP
import PawlLoop

/// Getting a place and a connection, and beginning the request on it.
extension OriginExchange {
  /// Begins an exchange that was only prepared, by asking for a place. The delegate may be called before this returns. Does nothing
  /// if the exchange has begun already. Call this on the loop.
  package func begin() {
    guard case .starting = phase else { return }
    if upstream.hasSeveralNodes {
      urlOrder = upstream.choose(at: loop.now, for: request.head.target, preferring: request.preferredURL)
      preferredURL = urlOrder[0]
    }
    phase = .entering
    pool.enter(self)
    switch phase {
    case .granted: proceed()
    case .queued: updatePatience(hasProgress: true)
    case .starting, .entering, .dialling, .connected, .upgraded, .ended: break
    }
  }

  func queued(_ ticket: ConnectionLimit.Ticket) { phase = .queued(ticket) }

  /// Gives this exchange its place, and perhaps an idle connection. The exchange goes on in a later turn of the event loop, because
  /// the caller may be another exchange that is just ending, and the delegate must not be called before that exchange has ended.
  func granted(_ connection: OriginConnection?) {
    let previous = phase
    phase = .granted(connection)
    grantedAt = loop.now
    queueTimer?.cancel()
    // Called from within `begin()`, which calls `proceed()` itself.
    if case .entering = previous { return }
    loop.nextTurn { [self] in proceed() }
  }

  private func proceed() {
    guard case .granted(let connection) = phase else { return }
    guard let connection else { return dial() }
    if isFit(connection) {
      attach(connection)
    } else {
      connection.stream.close()
      dial()
    }
  }

  /// Whether this request may be sent on an idle connection. The connection must be open, and no bytes may have come on it. Such
  /// bytes must not become the response to this request, and a request that cannot be repeated must not go to an origin that has
  /// closed the connection. The check costs one read, some 0.3 us. (The origin may still close after that; this is why some
  /// requests get a new connection.)
  private func isFit(_ connection: OriginConnection) -> Bool {
    !request.wantsFreshConnection && connection.isUsable(at: loop.now) && connection.isQuiet()
  }

  private func dial() {
    let id = requestID
    let dial = OriginDial(upstream: upstream, loop: loop, urls: urlOrder.isEmpty ? [0] : urlOrder, requestID: id) {
      [weak self] result in
      self?.dialled(result)
    }
    phase = .dialling(dial)
    updatePatience(hasProgress: true)
    dial.start()
  }

  private func dialled(_ result: Result<OriginConnection, ProxyError>) {
    guard case .dialling(let dial) = phase else { return }
    switch result {
    case .success(let connection): attach(connection)
    case .failure(let error):
      address = dial.lastAddress
      fail(error)
    }
  }

  private func attach(_ connection: OriginConnection) {
    phase = .connected(connection)
    address = connection.peer
    if connection.url != preferredURL { moveNode(to: connection.url) }
    connection.begin(self)
    pool.counters.add(connection.isReused ? .connectionsReused : .connectionsOpened)
    if response.hasBegun { response.restart() }
    isPaused ? connection.stream.stopReading() : connection.stream.startReading()
    let connected = attempts.connected(holdsHead: request.holdsHead)
    if connected.sendsHead {
      sendHead(on: connection)
      wrote(output.flush(connection.stream), hasProgress: true)
    } else {
      updatePatience(hasProgress: true)
    }
    if connected.isFirst { delegate?.exchangeConnected(self) }
    askForBody()
  }

  /// Sends the head that ``OriginRequest/holdsHead`` kept back.
  package func releaseHead() {
    guard attempts.releaseHead() else { return }
    guard case .connected(let connection) = phase else { return }
    sendHead(on: connection)
    wrote(output.flush(connection.stream), hasProgress: true)
  }

  private func sendHead(on connection: OriginConnection) {
    sentAt = loop.now
    pool.counters.add(.requests)
    let base = upstream.settings.urls[connection.url].basePath
    defer { headCount = UInt64(output.pendingCount) }
    guard !base.isEmpty else { return output.connect(request.head) }
    var head = request.head
    head.target = Array(base.utf8)[...] + head.target
    output.connect(head)
  }

  /// Retries a request whose connection closed before any byte of a response. If the connection was reused, the request is retried
  /// once on a new one, if the method is idempotent (RFC 9112 §9.3.1). If the connection was new, the request is retried once at
  /// another node, if the method is safe. `false`: no retry is allowed.
  func retry(after connection: OriginConnection, _ why: String, isReset: Bool = false) -> Bool {
    let method = request.head.method
    let goesElsewhere = !connection.isReused && method.isSafe && urlOrder.count > 1
    guard connection.isReused || goesElsewhere, method.isIdempotent, !output.hasTakenBody else { return false }
    let hasSent = requestBytesSent
    guard goesElsewhere ? attempts.begin(elsewhereHavingSent: hasSent) : attempts.begin(retryHavingSent: hasSent)
    else { return false }
    if goesElsewhere {
      noteBreak(ProxyError(.connectionTerminated, details: why))
      urlOrder.removeAll { $0 == connection.url }
    } else if upstream.hasSeveralNodes, !method.isSafe, hasSent {
      // An unsafe request is repeated only at the node that may have received it.
      urlOrder = [connection.url]
    }
    pool.counters.add(.retries)
    let trouble = OriginTrouble(
      ProxyError(.connectionTerminated, details: why), url: connection.url, requestID: requestID, isReset: isReset,
      next: goesElsewhere ? .asksOtherNode : .asksAgain)
    upstream.tell(trouble.map { $0.about(idle: connection.isReused) })
    connection.end()
    connection.stream.close()
    output.disconnect()
    dial()
    return true
  }
}
