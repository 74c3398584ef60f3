import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlWire

extension DownloadExchange {
  /// Answers from a stored response: conditions, then ranges (RFC 9110 §13.2.2), then what is held and what comes.
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

  /// - Parameter coding: what its content is compressed in on its way.
  private func give(_ stored: StoredResponse, in coding: ContentCoding?) {
    let answer = StoredAnswer(stored, request: request, served: served, isOutOfPatience: isOutOfPatience)
    if let twin = proofNeeded(stored) { return waitForProof(twin, of: stored, isOurs: true) }
    if hasGoneBy(stored, answer) { return passUnkept() }
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
    if channel.hasResponded { letKeeperGo() }
  }

  /// 412: what is there is not what the client named.
  func preconditionFailed() {
    letKeeperGo()
    channel.reply(Replies.preconditionFailed())
  }

  /// A range whose `If-Range` names the body that this one replaces has to wait for the comparison.
  private func proofNeeded(_ stored: StoredResponse) -> TwinComparison? {
    guard request.head.fields.contains(.range), case .tag(let tag)? = IfRange(request.head.fields), !isOutOfPatience,
      stored.body.tagLimit(tag.opaque) == nil, !stored.body.isForm, stored.body.form(namedBy: tag.opaque) == nil,
      let twin = FillCoordinator.existing(stored)?.comparison,
      twin.concerns(tag)
    else { return nil }
    return twin
  }

  /// Before a promise that needs bytes which nobody is fetching, the first of them are asked for: an origin that has
  /// something else by now is found out while the client can still be given that, and need not be cut off. So is that
  /// there is no room for them beside what others fetch.
  private func confirmsFirst(_ stored: StoredResponse, _ answer: StoredAnswer) -> Bool {
    guard !hasConfirmed, request.head.method == .get, let total = stored.body.total, !stored.body.isComplete,
      FillCoordinator.canFetchRanges(stored), let wanted = answer.wanted(of: total)
    else { return false }
    // What the origin says to this request must not be put with what is there for others: all of it has to be here, or on its way.
    guard Fill.mayGrow(stored, by: request) || FillCoordinator.isAllComing(stored, wanted) else {
      hasConfirmed = true
      passUnkept()
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
      case .othersOnly: self.passUnkept()
      // What turned out to be changed, or not to be had any more, has left the index.
      case .changed: stored.body.isStreaming ? self.passUnkept() : self.look()
      }
    }
    return true
  }

  /// A body for which there is no room goes through memory once: of what this client wants, some has, and is not held.
  /// The seat that is taken holds the rest for it.
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

  /// From the origin, for this client alone, and nothing is kept of it: the last time that this request asks.
  func passUnkept() {
    letKeeperGo()
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
      case nil: stored.body.isComplete ? "hit" : "partial"
      case .validated?, .confirmed?: "revalidated"
      case .staleOnError?: "stale"
      case .fetched?: served.isCollapsed ? "collapsed" : "miss"
      }
  }
}
