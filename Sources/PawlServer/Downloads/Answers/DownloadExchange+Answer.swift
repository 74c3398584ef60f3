import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlWire

extension DownloadExchange {
  /// Answers from a stored response. Evaluates the conditions, then the ranges (RFC 9110 §13.2.2), then sends bytes that are held or on
  /// their way.
  func serve(_ stored: StoredResponse, _ served: Served) {
    guard isUnanswered else { return }
    enter(.deciding)
    self.served = served
    if awaitsName(stored) { return }
    store.noteUse(stored)
    switch form(of: stored) {
    case .asStored: give(stored, in: nil)
    case .kept(let form):
      store.noteUse(form)
      give(form, in: nil)
    case .onItsWay(let coding): give(stored, in: coding)
    case .later: break
    }
  }

  /// Sends the answer, unless it has to wait for a proof, a confirmation or verified bytes first.
  /// - Parameter coding: the content coding in which the content is compressed while it is sent; `nil`: none.
  private func give(_ stored: StoredResponse, in coding: ContentCoding?) {
    let answer = StoredAnswer(stored, request: request, served: served, isOutOfPatience: isOutOfPatience)
    if let twin = proofNeeded(stored) { return waitForProof(twin, of: stored, isOurs: true) }
    if hasGoneBy(stored, answer) { return forwardUnstored() }
    if confirmsFirst(stored, answer) || provesFirst(stored, answer) { return }
    note(served, stored)
    if request.hasMatch, let tags = request.match, !answer.isNamed(by: tags) { return preconditionFailed() }
    switch answer.shape {
    case .notModified: channel.respond(answer.notModified(), length: .none, body: nil)
    case .needsTotal: waitForTotal(of: stored)
    case .whole: sendWhole(stored, answer, in: coding)
    case .part(let range):
      let reader = reader([.body(range.first, through: range.last + 1)], stored)
      channel.respond(answer.part(range), length: .known(range.count), body: reader)
    case .parts(let ranges): sendParts(ranges, stored, answer)
    case .unsatisfiable:
      let reply = answer.unsatisfiable()
      channel.reply(reply)
    }
    if channel.hasResponded { removePlaceholder() }
  }

  /// Answers 412, because the current representation is not one that the client's `If-Match` names.
  func preconditionFailed() {
    removePlaceholder()
    channel.reply(Replies.preconditionFailed())
  }

  /// Returns the comparison that the answer has to wait for; `nil`: none. The answer to a range request has to wait if its `If-Range` names
  /// the body that the stored body replaces, while the two bodies are compared.
  private func proofNeeded(_ stored: StoredResponse) -> TwinComparison? {
    guard request.head.fields.contains(.range), case .tag(let tag)? = IfRange(request.head.fields), !isOutOfPatience,
      stored.body.tagLimit(tag.opaque) == nil, !stored.body.isForm, stored.body.form(namedBy: tag.opaque) == nil,
      let twin = FillCoordinator.existing(stored)?.comparison,
      twin.concerns(tag)
    else { return nil }
    return twin
  }

  /// Asks the origin for the first missing bytes before a head is sent that promises them, if no fill is bringing them. The origin may have
  /// another representation by now, or there may be no space on disk for the missing bytes. Before the head is sent, the client can still
  /// get another answer; afterwards the transfer could only be cut off.
  /// - Returns: `true` if the answer waits, or the request was forwarded.
  private func confirmsFirst(_ stored: StoredResponse, _ answer: StoredAnswer) -> Bool {
    guard !hasConfirmed, request.head.method == .get, let total = stored.body.total, !stored.body.isComplete,
      FillCoordinator.canFetchRanges(stored), let wanted = answer.wanted(of: total)
    else { return false }
    // The origin's response to this request must not be put together with stored bytes that other clients get. So all wanted bytes have to
    // be held, or on their way.
    guard Fill.mayGrow(stored, by: request) || FillCoordinator.isAllComing(stored, wanted) else {
      hasConfirmed = true
      forwardUnstored()
      return true
    }
    guard let span = FillCoordinator.unattended(stored, wanted, of: total) else { return false }
    hasConfirmed = true
    keep(stored, from: wanted.lowerBound)
    enter(.waiting(for: .confirmation, of: stored, nil))
    Fill.start(span, of: stored, for: request, in: store, on: downloads) { [weak self] confirmation in
      guard let self, self.state.hears(.came(.confirmation), of: stored), !self.channel.hasResponded else { return }
      switch confirmation {
      case .same: self.serve(stored, self.served)
      case .othersOnly: self.forwardUnstored()
      // A body that has changed, or that cannot be completed any more, has left the index.
      case .changed: stored.body.isStreaming ? self.forwardUnstored() : self.look()
      }
    }
    return true
  }

  /// Whether bytes that this answer needs have already left the memory window and are not held. A body for which there is no space on disk
  /// passes through memory one time only. This function registers a placeholder reader, so that the bytes which are still in the window
  /// stay there for this client.
  private func hasGoneBy(_ stored: StoredResponse, _ answer: StoredAnswer) -> Bool {
    guard stored.body.isStreaming, request.head.method == .get else { return false }
    let ranges: [Range<UInt64>] =
      switch answer.shape {
      case .whole: [0..<(stored.body.total ?? .max)]
      case .part(let range): [range.first..<range.end]
      case .parts(let parts): parts.map { $0.first..<$0.end }
      case .notModified, .unsatisfiable, .needsTotal: []
      }
    guard let first = ranges.first else { return false }
    keep(stored, from: first.lowerBound)
    return !ranges.allSatisfy(stored.body.windowReaches)
  }

  /// Forwards the request to the origin for this client alone, and stores nothing of the response. This is the last time that this
  /// exchange asks the origin.
  func forwardUnstored() {
    removePlaceholder()
    forwardInstead(.partial)
  }

  private func reader(_ segments: [CacheReader.Segment], _ stored: StoredResponse) -> CacheReader {
    CacheReader(segments, of: stored, for: request, in: store, on: downloads)
  }

  private func sendWhole(_ stored: StoredResponse, _ answer: StoredAnswer, in coding: ContentCoding?) {
    var head = answer.whole()
    if stored.head.status == 204 { return channel.respond(head, length: .none, body: nil) }
    let total = stored.body.total
    let isEmpty = request.head.method == .head || total == 0
    let body = isEmpty ? nil : reader([.body(0, through: total)], stored)
    let length = total.map(ContentLength.known) ?? .unknown
    guard let coding else { return channel.respond(head, length: length, body: body) }
    let coded = AnswerCoding.coded(body, length, under: &head, in: coding, for: request)
    channel.respond(head, length: coded.length, body: coded.body)
  }

  private func sendParts(_ ranges: [ByteRange], _ stored: StoredResponse, _ answer: StoredAnswer) {
    let total = stored.body.total ?? 0
    let multipart = MultipartRanges(
      ranges: ranges, total: total, contentType: stored.head.fields.only(.contentType), boundary: AnswerTags.boundary())
    var segments: [CacheReader.Segment] = []
    for (index, range) in ranges.enumerated() {
      segments.append(.own(multipart.head(of: index)))
      segments.append(.body(range.first, through: range.last + 1))
    }
    segments.append(.own(multipart.closing))
    channel.respond(
      answer.parts(contentType: multipart.contentType), length: .known(multipart.length), body: reader(segments, stored)
    )
  }

  private func note(_ served: Served, _ stored: StoredResponse) {
    request.record.cacheOutcome =
      switch served.arrival {
      case nil: stored.body.isComplete ? .hit : .partial
      case .validated?, .confirmed?: .revalidated
      case .staleOnError?: .stale
      case .fetched?: served.isCollapsed ? .collapsed : .miss
      }
  }
}
