import PawlHTTP
import PawlLoop
import PawlWire

/// Writes the queued bytes and the content of the source to the socket.
extension HTTP1Connection: BodyConsumer {
  /// The most content bytes given to one socket in one turn of the loop if no other connection is ready. If others are ready,
  /// the limit is lower. Sending 8 MiB of a file with `sendfile` takes a millisecond; one call takes a tenth less time than
  /// eight calls of 1 MiB. Bytes that TLS encrypts, or that are copied, take more time than `sendfile`, so their limit is
  /// lower.
  private static let turn = 8 << 20
  private static let turnCopied = 2 << 20

  private func turnShare() -> Int {
    let (loop, parts) = (connections.loop, TurnShare.leastPart)
    guard !stream.isProtected else { return loop.turnShare(of: Self.turnCopied) }
    return loop.turnShare(of: Self.turn, parts: parts * (Self.turn / Self.turnCopied))
  }

  func streamWritable() { pump() }

  func bodyIsReady() { pump() }

  /// Sends until the socket is full, the source has nothing, or this connection's share of the turn is used up. The head and the
  /// first piece leave together: in one write if the piece is in memory; if it is in a file, the head is sent with MSG_MORE.
  func pump() {
    guard !isPumping, state.isSending else { return }
    isPumping = true
    defer { isPumping = false }
    var budget = turnShare()
    while budget > 0 {
      let supply = pull(&budget)
      guard state.isSending else { return }
      if supply == .soon { return }
      guard flushOutput(more: unsentFile != nil) else { return }
      if unsentFile != nil {
        guard sendFile(&budget) else { return }
      } else if supply == .later {
        // The client has everything that has come so far. The origin's delay does not count against the client.
        return clearDeadline()
      } else if source == nil, output.isEmpty {
        return outputDrained()
      }
    }
    stream.wantWritable()
  }

  /// The result of the last call of the source.
  private enum Supply { case something, soon, later }

  /// Asks the source for further pieces while the output has space for them.
  private func pull(_ budget: inout Int) -> Supply {
    // A client whose socket was full gets small pieces, because what is pulled now waits in memory.
    let room = outputSent > 0 ? 16 << 10 : 64 << 10
    while let source, unsentFile == nil, output.count - outputSent < room, budget > 0 {
      let limit = pieceLimit
      pieceLimit = BusyState.firstPiece
      switch source.next(limit: min(budget, limit)) {
      case .memory(let bytes, let range): queue(bytes, range, &budget)
      case .file(let run):
        pieceLimit = min(limit * 2, Self.turn)
        queue(run)
      case .later: return .later
      case .soon: return .soon
      case .end: bodyEnded()
      case .failed(let end): endVisibly(end)
      }
    }
    return .something
  }

  /// Writes the queued bytes. Returns `false` when the socket is full or broken.
  private func flushOutput(more: Bool) -> Bool {
    guard let busy else { return true }
    while busy.turn.outputSent < busy.output.count {
      let sent = busy.turn.outputSent
      let result = busy.output.withUnsafeBytes {
        stream.write(UnsafeRawBufferPointer(rebasing: $0[sent...]), more: more)
      }
      switch result {
      case .bytes(let count):
        busy.turn.outputSent += count
        madeProgress()
      case .wouldBlock:
        stream.wantWritable()
        expectProgress()
        return false
      case .end: return false
      case .failed(let code):
        guard contentIsUnended, !hasResponded else {
          socketFailed(code)
          return false
        }
        // What the client sent before the connection broke may be a complete request or upload, so that is still read.
        state.writeFailed()
        busy.turn.outputSent = busy.output.count
      }
    }
    busy.output.removeAll(keepingCapacity: busy.output.capacity <= 16 << 10)
    busy.turn.outputSent = 0
    return true
  }

  private func madeProgress() {
    // Before the final response, an interim one does not extend the time limit of the request's content.
    if hasResponded && phase == .exchanging || phase == .flushing {
      setDeadline(after: listener.settings.sendTimeout)
    }
  }

  private func queue(_ bytes: [UInt8], _ range: Range<Int>, _ budget: inout Int) {
    guard account(range.count) else { return }
    budget -= range.count
    if state.isChunked { ChunkedWriter.appendHeader(range.count, into: &output) }
    output.append(contentsOf: bytes[range])
    if state.isChunked { output.append("\r\n" as StaticString) }
  }

  private func queue(_ slice: FileRun) {
    guard account(slice.count) else { return }
    if state.isChunked { ChunkedWriter.appendHeader(slice.count, into: &output) }
    unsentFile = .file(slice)
  }

  /// Counts content bytes that are about to be queued. If a source has more bytes than announced, that is an error of pawl, and
  /// the body ends visibly.
  /// - Returns: `false` if the source had too much.
  private func account(_ count: Int) -> Bool {
    if let fault = owed.take(count) {
      endVisibly(fault)
      return false
    }
    request?.noteSent(count)
    return true
  }

  private func sendFile(_ budget: inout Int) -> Bool {
    guard case .file(var slice) = unsentFile else { return true }
    switch lookAtFile(slice) {
    case .same: break
    case .changed: return giveBack(slice, "stored-file-changed")
    case .spoilt:
      // Bytes of the changed file may wait in the kernel; they must not be sent.
      let end = BodyEnd(party: .pawl, reason: "stored-file-changed")
      request?.record.end = end
      connections.noteCut(request, end)
      cut()
      return false
    }
    switch stream.sendFile(slice.descriptor, offset: slice.offset, count: min(slice.count, budget)) {
    case .bytes(let count):
      budget -= count
      madeProgress()
      slice.advance(by: count)
      if slice.count > 0 {
        unsentFile = .file(slice)
      } else {
        unsentFile = nil
        if state.isChunked { output.append("\r\n" as StaticString) }
      }
      return true
    case .wouldBlock:
      stream.wantWritable()
      expectProgress()
      return false
    case .end: return giveBack(slice, "stored-file-too-short")
    case .failed(let code) where SocketStream.isOfFile(code): return giveBack(slice, "stored-file-unreadable")
    case .failed(let code):
      socketFailed(code)
      return false
    }
  }

  private func lookAtFile(_ run: FileRun) -> FileLook {
    if let source { return source.look(at: run, isCopied: stream.isProtected) }
    return (exchange as? HotExchange)?.look(at: run, isCopied: stream.isProtected, connections.loop.now) ?? .same
  }

  /// Gives the rest of a run back to its reader, since the file has changed or is too short; the reader gets the bytes from
  /// elsewhere. The rest of a begun chunk cannot be given back, because nothing else may follow the length in the chunk's header.
  /// - Returns: whether there is more to send; this may be only the bytes that are queued before the visible end.
  private func giveBack(_ run: FileRun, _ why: String) -> Bool {
    unsentFile = nil
    if source == nil, let request,
      let reader = (exchange as? HotExchange)?.reader(of: run, for: request, on: connections.downloads)
    {
      reader.consumer = self
      source = reader
    } else if state.isChunked || source?.takeBack(run) != true {
      endVisibly(BodyEnd(party: .pawl, reason: why))
      return phase != .closed
    }
    owed.giveBack(run.count)
    if let request { request.record.bytesSent -= min(request.record.bytesSent, UInt64(run.count)) }
    return true
  }

  private func bodyEnded() {
    if let fault = owed.end() { return endVisibly(fault) }
    let trailers = source?.trailers ?? Fields()
    source?.finish()
    source = nil
    guard state.isChunked else { return }
    ChunkedWriter.appendLast(trailers: takesTrailers ? trailers : Fields(), into: &output)
  }

  /// Whether the request accepts trailers. If not, the client gets none (RFC 9110 §6.5.1).
  private var takesTrailers: Bool { request.map { Trailers.areTaken(by: $0.head.fields) } ?? false }

  /// Ends the answer once the socket has taken all that was queued.
  private func outputDrained() {
    guard stream.bytesKept == 0 else {
      // Encrypted bytes are still to be written to the kernel.
      if keptBytes == 0 { keptBytes = stream.bytesKept }
      stream.wantWritable()
      return expectProgress()
    }
    keptBytes = 0
    if phase == .flushing { return finishConnection() }
    guard state.answerIsSent() else { return }
    let finished = exchange
    exchange = nil
    finished?.responseSent()
    if hasClientEnded, input.isEmpty, !hasContent { return awaitAcknowledgement() }
    logRequest()
    if state.turn.persists, state.turn.wish == .drained, hasContent {
      content.goOn()
      setDeadline(after: UnwantedContent.time)
      return inputConsumed()
    }
    awaitRequest()
  }

  /// Waits for the next request, or ends the connection where no more requests are allowed.
  func awaitRequest() {
    guard state.turn.persists, !connections.isDraining, !hasContent else { return finishConnection() }
    state.awaitRequest()
    becomeIdle()
    setDeadline(after: listener.settings.keepaliveTimeout)
    // `consume` is among the callers of this function, and handles the rest of the input itself.
    guard !isConsuming else { return }
    guard !input.isEmpty else { return inputConsumed() }
    connections.loop.nextTurn { [self] in
      guard state.isWaiting else { return }
      consumeInput()
      inputConsumed()
    }
  }
}
