import PawlHTTP
import PawlLoop

/// What an exchange waits for; each kind of wait has its timeout. Connecting has its own timeout, in ``OriginDial``.
enum Patience: Hashable {
  case none
  /// A place below `max-connections`.
  case queue
  /// The first byte of the response to a request that is completely sent.
  case response
  /// The rest of a head.
  case head
  /// Content of the response.
  case body
  /// Space in the socket buffer, because the origin has to take more of the request.
  case write
}

extension OriginExchange {
  /// Sets the timer for what the exchange waits for now. Progress restarts the timer.
  func updatePatience(hasProgress: Bool) {
    guard !isOver else { return }
    let present = presentPatience
    guard present != patience || hasProgress else { return }
    patience = present
    let settings = upstream.settings
    switch present {
    case .none: patienceTimer()?.cancel()
    case .queue: patienceTimer()?.schedule(after: settings.queueTimeout)
    case .response: patienceTimer()?.schedule(after: settings.responseTimeout)
    case .head, .body, .write: patienceTimer()?.schedule(after: settings.idleTimeout)
    }
  }

  private var presentPatience: Patience {
    switch phase {
    case .queued: return .queue
    case .starting, .entering, .granted, .dialling, .upgraded, .ended: return .none
    case .connected:
      if isPaused { return output.hasUnsent ? .write : .none }
      if stillSends { return output.hasUnsent ? .write : .none }
      if response.hasFinalHead { return isLive ? .none : .body }
      if !response.held.isEmpty { return .head }
      if output.hasUnsent { return .write }
      // While the delegate has more content to hand in, the origin need not respond yet.
      return output.isSent || output.isStopped ? .response : .none
    }
  }

  func ranOutOfPatience() {
    let settings = upstream.settings
    switch patience {
    case .none: break
    case .queue:
      fail(.init(.connectionLimitReached, details: "no connection free within \(settings.queueTimeout)"))
    case .response:
      fail(.init(.httpResponseTimeout, details: "no answer within \(settings.responseTimeout)"))
    case .head:
      fail(.init(.connectionReadTimeout, details: "silent for \(settings.idleTimeout) inside the head"))
    case .body:
      fail(.init(.connectionReadTimeout, details: "silent for \(settings.idleTimeout) inside the content"))
    case .write:
      fail(.init(.connectionWriteTimeout, details: "took nothing of the request for \(settings.idleTimeout)"))
    }
  }
}
