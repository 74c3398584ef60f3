package import PawlHTTP
import PawlLoop

/// The sending of content of the request, from the delegate to the stream.
extension OriginExchange {
  /// Sends content; takes all of `bytes`. `false`: the caller has to wait for ``OriginExchangeDelegate/exchangeWantsBody(_:)``. The
  /// content is discarded after the origin has refused it by a final response, or after the exchange has ended.
  package func sendBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    send(UInt64(bytes.count)) { () throws(RequestOutput.Misuse) in try output.append(bytes, to: stream) }
  }

  /// Sends bytes of a file without copying them through memory (`sendfile`). In all other respects this works as ``sendBody(_:)``
  /// does. `false`: the socket does not have all the bytes yet; ``OriginExchangeDelegate/exchangeWantsBody(_:)`` is called when
  /// it has them. Blocks if the file is not in the page cache.
  /// - Parameter keeper: keeps the descriptor open; released when the bytes are sent.
  package func sendFile(_ descriptor: CInt, at offset: UInt64, count: UInt64, keeping keeper: AnyObject) -> Bool {
    let run = FileContent(descriptor: descriptor, offset: offset, count: count, keeper: keeper)
    return send(count) { () throws(RequestOutput.Misuse) in try output.append(run, to: stream) }
  }

  private func send(_ count: UInt64, _ append: () throws(RequestOutput.Misuse) -> RequestOutput.FlushResult) -> Bool {
    guard !isOver, !output.isStopped else { return true }
    pool.counters.add(.bytesSent, count)
    do throws(RequestOutput.Misuse) {
      wrote(try append())
    } catch {
      misused("more content than the request announced")
      return false
    }
    senderWaits = output.pendingCount >= RequestOutput.highWater || output.hasFile
    return !senderWaits
  }

  /// Calls `action` once, in a later turn of the loop, when the kernel has all the content that was handed in so far. Does not call
  /// `action` if the exchange ends or the origin refuses the content before that.
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

  /// Ends the content. Trailers are sent only with chunked framing.
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
      if output.isSent, !response.hasBegun { stream?.awaitResponse() }
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

  /// Lets a waiting sender go on, when there is space for its content or the content is discarded.
  func askForBody() {
    guard senderWaits, !isOver, output.pendingCount <= RequestOutput.lowWater, !output.hasFile else { return }
    senderWaits = false
    delegate?.exchangeWantsBody(self)
  }
}
