package import PawlHTTP
import PawlLoop

/// Sending: content of the request, from the delegate to the stream.
extension OriginExchange {
  /// Takes all of `bytes`. `false`: enough for now, until ``OriginExchangeDelegate/exchangeWantsBody(_:)``.
  /// Once the origin has refused the content by a final answer, or the exchange has ended, it is discarded.
  package func sendBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    send { () throws(RequestOutput.Misuse) in try output.append(bytes, to: stream) }
  }

  /// As ``sendBody(_:)``, of bytes of a file, which go to the socket without passing through memory (`sendfile`).
  /// `false`: they are on their way; ``OriginExchangeDelegate/exchangeWantsBody(_:)`` comes when they are with the
  /// socket. Sending blocks where the file is not in the page cache.
  /// - Parameter owner: keeps the descriptor open; let go of when the bytes have gone.
  package func sendFile(_ descriptor: CInt, at offset: UInt64, count: UInt64, keeping owner: AnyObject) -> Bool {
    let run = FileContent(descriptor: descriptor, offset: offset, count: count, owner: owner)
    return send { () throws(RequestOutput.Misuse) in try output.append(run, to: stream) }
  }

  private func send(_ append: () throws(RequestOutput.Misuse) -> RequestOutput.FlushResult) -> Bool {
    guard !isOver, !output.isStopped else { return true }
    do throws(RequestOutput.Misuse) {
      wrote(try append())
    } catch {
      misused("more content than the request announced")
      return false
    }
    senderWaits = output.pendingCount >= RequestOutput.highWater || output.hasFile
    return !senderWaits
  }

  /// Performs `action` once, in a later turn, when everything handed in so far is with the socket; never when the
  /// exchange ends or the origin refuses the content before that.
  package func whenFlushed(_ action: @escaping () -> Void) {
    guard !isOver else { return }
    flushed = action
    noteFlushed()
  }

  private func noteFlushed() {
    guard output.isFlushed, let action = flushed else { return }
    flushed = nil
    loop.nextTurn { [self] in
      guard !isOver, !output.isStopped else { return }
      action()
    }
  }

  /// The content is complete. Trailers go out only with chunked framing.
  package func finishBody(trailers: Fields = Fields()) {
    guard !isOver else { return }
    do {
      wrote(try output.finish(trailers, to: stream))
    } catch {
      misused("less content than the request announced")
    }
  }

  private func misused(_ details: String) {
    output.stop()
    loop.nextTurn { [self] in fail(ProxyError(.proxyInternalError, details: details)) }
  }

  func wrote(_ result: RequestOutput.FlushResult, hasProgress: Bool = false) {
    switch result {
    case .drained:
      noteFlushed()
      if output.isSent, !response.hasBegun { stream?.expectAnswer() }
    case .blocked: stream?.wantWritable()
    case .failed: break
    case .unreadable(let why): loop.nextTurn { [self] in fail(ProxyError(.proxyInternalError, details: why)) }
    }
    updatePatience(hasProgress: hasProgress)
    judgeRest()
  }

  func streamWritable() {
    let (before, kept) = (output.sentOnConnection, output.keptByStream)
    wrote(output.flush(stream))
    if output.sentOnConnection > before || output.keptByStream < kept { updatePatience(hasProgress: true) }
    askForBody()
  }

  /// Tells a sender that waits to go on, when there is room or what it sends is discarded.
  func askForBody() {
    guard senderWaits, !isOver, output.pendingCount <= RequestOutput.lowWater, !output.hasFile else { return }
    senderWaits = false
    delegate?.exchangeWantsBody(self)
  }
}
