import PawlHTTP
import PawlUpstream

/// Sends the request's content to the origin.
extension ForwardExchange {
  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let intake, state.isHeld || origin != nil else { return true }
    received += UInt64(bytes.count)
    guard received <= maxUpload else {
      refuseContent()
      return true
    }
    intake.measure(bytes.count)
    // Ask for a place before the bytes are copied, because with an idle connection no copy is needed.
    if state.waits, intake.isFast { ask(.upload, atOnce: true) }
    guard state.isHeld || origin != nil else { return true }
    if state.isConnected, intake.isEmpty, let origin { return origin.sendBody(bytes) }
    let goesOn = intake.append(bytes)
    if state.waits {
      if intake.isAtLimit { ask(.upload) } else { intakeTimer?.schedule(after: RequestIntake.silence) }
    }
    return goesOn && (state.isHeld || origin?.isWaitingForPlace == true)
  }

  /// `max-upload` in bytes, for content that goes to the origin while it comes from the client. The size of spooled content was
  /// checked before.
  var maxUpload: UInt64 { spooled == nil ? request.route.maxUpload ?? .max : .max }

  /// Refuses content that is larger than `max-upload`. The request at the origin stays incomplete.
  func refuseContent() {
    letGo()
    waitingTrailers = nil
    channel.drainRequestBody()
    guard channel.hasResponded else {
      return channel.reply(Replies.plain(status: 413, sentence: "The content is larger than \(maxUpload) bytes."))
    }
    state.answerFails(.contentTooLarge)
    consumer?.bodyIsReady()
  }

  var contentPassedOn: UInt64? { origin?.contentBytesSent ?? 0 }

  func requestBodyEnded(_ trailers: Fields) {
    if state.isConnected, intake?.isEmpty != false, let origin { return origin.finishBody(trailers: trailers) }
    waitingTrailers = trailers
    if state.isHeld { return ask(.passThrough) }
    // The content is complete, so a slow client cannot hold a place any more. Ask again, as a request whose content is here.
    guard let origin, origin.isWaitingForPlace, origin.request.use == .upload else { return }
    origin.cancel()
    ask(.passThrough)
  }

  func intakeChanged() {
    if state.isConnected, let origin {
      exchangeWantsBody(origin)
    } else if intake?.takesMore == true {
      channel.resumeRequestBody()
    }
  }

  func exchangeConnected(_ exchange: OriginExchange) {
    state.connects()
    intakeTimer?.close()
    intake?.spills = false
    feed = spooled.map { content in
      FileFeed(
        content.file.descriptor, 0..<content.count, keeping: content, on: request.loop.loop, pool: request.loop.pool)
    }
    exchangeWantsBody(exchange)
  }

  func exchangeWantsBody(_ exchange: OriginExchange) {
    if let feed {
      _ = feed.send(to: exchange) { [weak self] in self?.origin.map { self?.exchangeWantsBody($0) } }
      return
    }
    while let intake {
      switch intake.next() {
      case .bytes(let bytes, let range):
        let goOn = bytes.withUnsafeBytes { exchange.sendBody(UnsafeRawBufferPointer(rebasing: $0[range])) }
        guard goOn else { return }
        continue
      case .later: return
      case .nothing: break
      case .failed:
        exchange.cancel()
        return broke(ProxyError(.proxyInternalError, details: "the content cannot be read back"))
      }
      break
    }
    if let trailers = waitingTrailers {
      waitingTrailers = nil
      exchange.finishBody(trailers: trailers)
    } else {
      channel.resumeRequestBody()
    }
  }
}
