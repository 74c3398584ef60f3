import PawlHTTP
import PawlLoop
import PawlWire

/// What is queued, and what the source has, on their way into the socket.
extension HTTP1Connection: BodyConsumer {
  /// Content bytes handed to one socket in a turn in which nothing else is ready; a share of it where others wait. What the
  /// kernel takes from a file costs a millisecond for 8 MiB, and a tenth less in one call than in eight; what TLS encrypts, or is
  /// copied, costs more of the loop's time.
  private static let turn = 8 << 20
  private static let turnCopied = 2 << 20

  private func turnShare() -> Int {
    let (loop, parts) = (connections.loop, TurnShare.leastPart)
    guard !stream.isProtected else { return loop.turnShare(of: Self.turnCopied) }
    return loop.turnShare(of: Self.turn, parts: parts * (Self.turn / Self.turnCopied))
  }

  func streamWritable() { pump() }

  func bodyIsReady() { pump() }

  /// Sends until the socket is full, the source has nothing, or the turn is over. The head and the first piece
  /// leave together: in one write when that piece is in memory, with MSG_MORE when it is a file's.
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
        // The client has all there is: the time that the origin takes is not the client's.
        return clearDeadline()
      } else if source == nil, output.isEmpty {
        return outputDrained()
      }
    }
    stream.wantWritable()
  }

  /// What the source had when it was asked last.
  private enum Supply { case something, soon, later }

  /// Asks the source for its next piece while there is room.
  private func pull(_ budget: inout Int) -> Supply {
    // Whose socket was full takes little at a time: what is here waits in memory.
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

  /// `false` when the socket is full or broken.
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
          clientBroke(errorName(code))
          return false
        }
        // What the client sent before it broke may be all there is to send: it is read to its end.
        state.clientGoesDeaf()
        busy.turn.outputSent = busy.output.count
      }
    }
    busy.output.removeAll(keepingCapacity: busy.output.capacity <= 16 << 10)
    busy.turn.outputSent = 0
    return true
  }

  private func madeProgress() {
    // Before the answer, interim ones do not extend the time that the request's content has.
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

  /// Never more than was announced; a source that has more is our own mistake and ends the body visibly.
  private func account(_ count: Int) -> Bool {
    if let fault = owed.take(count) {
      endVisibly(fault)
      return false
    }
    request?.record.bytesSent += UInt64(count)
    return true
  }

  private func sendFile(_ budget: inout Int) -> Bool {
    guard case .file(var slice) = unsentFile else { return true }
    switch lookAtFile(slice) {
    case .same: break
    case .changed: return giveBack(slice, "stored-file-changed")
    case .spoilt:
      // Whatever of it has not left yet must not.
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
      clientBroke(errorName(code))
      return false
    }
  }

  private func lookAtFile(_ run: FileRun) -> FileLook {
    if let source { return source.look(at: run, isCopied: stream.isProtected) }
    return (exchange as? HotExchange)?.look(at: run, isCopied: stream.isProtected, connections.loop.now) ?? .same
  }

  /// The file has not got what it was to have: its reader sees to it that it comes from elsewhere. Of a chunk that has begun
  /// the rest cannot wait behind others.
  /// - Returns: whether to go on, if only to the visible end.
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

  /// Nobody else is sent fields behind the content (RFC 9110 §6.5.1).
  private var takesTrailers: Bool { request.map { Trailers.areTaken(by: $0.head.fields) } ?? false }

  /// All that was queued is in the socket.
  private func outputDrained() {
    guard stream.bytesKept == 0 else {
      // Encrypted, and not with the kernel yet.
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
    logRequest()
    if state.turn.persists, state.turn.wish == .drained, hasContent {
      content.goOn()
      setDeadline(after: UnwantedContent.time)
      return inputConsumed()
    }
    awaitRequest()
  }

  /// The next request, if there may be one.
  func awaitRequest() {
    guard state.turn.persists, !connections.isDraining, !hasContent else { return finishConnection() }
    state.awaitRequest()
    becomeIdle()
    setDeadline(after: listener.settings.keepaliveTimeout)
    // Whoever takes messages off the input goes on by itself.
    guard !isConsuming else { return }
    guard !input.isEmpty else { return inputConsumed() }
    connections.loop.nextTurn { [self] in
      guard state.isWaiting else { return }
      consumeInput()
      inputConsumed()
    }
  }
}
