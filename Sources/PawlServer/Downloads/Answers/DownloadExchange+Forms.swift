import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// Chooses the form of a stored response for a client that accepts content codings.
extension DownloadExchange {
  enum Form {
    case asStored
    /// The coded form that pawl keeps beside the response, complete or being written.
    case kept(StoredResponse)
    /// Compressed for this client alone, while it is sent.
    case onItsWay(ContentCoding)
    /// Not decided yet: the exchange decides again when the coded form can be used, or when making it has failed.
    case later
  }

  /// The largest length, in bytes, of a content whose answer waits for the complete coded form, so that the answer has a length. The answer
  /// waits only if all of the content is held.
  static let shortForm: UInt64 = 1 << 20

  func form(of stored: StoredResponse) -> Form {
    guard let coding = coding(of: stored) else {
      asksBeside(stored)
      return .asStored
    }
    if let body = stored.body.form(in: coding), body.failure == nil { return kept(body, in: coding, of: stored) }
    guard stored.personal == nil, !stored.body.isStreaming, !hasTriedForm else { return .onItsWay(coding) }
    hasTriedForm = true
    makeForm(of: stored, in: coding)
    return .later
  }

  /// Asks the origin whether it compresses such responses, if pawl has not learnt this yet. A separate request is sent; its result is used
  /// for later requests.
  private func asksBeside(_ stored: StoredResponse) {
    guard request.route.compression != nil, !stored.body.isForm else { return }
    // A response that was just fetched has already shown whether the origin compresses it, or the next request will find that out.
    let isNews = served.arrival?.isJustFetched == true
    if isNews, request.asksOwnCoding || !RequestFields.isPersonal(request.head.fields) { return }
    let head = ResponseHead(status: stored.head.status, fields: stored.head.fields)
    if AnswerCoding.isToAskBeside(head, length: stored.body.total, for: request) {
      CodingProbe.ask(beside: request, on: downloads)
    }
  }

  // MARK: - Which

  private func coding(of stored: StoredResponse) -> ContentCoding? {
    guard request.route.compression != nil, !stored.body.isForm, request.head.method.isRetrieval else { return nil }
    switch namedForm(of: stored) {
    case .itself?: return nil
    case .form(let coding)?: return coding
    case nil: break
    }
    if request.head.method == .get, request.head.fields.contains(.range) { return nil }
    let head = ResponseHead(status: stored.head.status, fields: stored.head.fields)
    return AnswerCoding.choose(
      for: request, head, length: stored.body.total, isForEverybody: stored.head.isForEverybody)
  }

  private enum NamedForm {
    case itself
    case form(ContentCoding)
  }

  /// Returns what the client's tags name: the stored response itself, or a coded form of it; `nil`: neither. A coded form counts only if
  /// the client accepts its coding. A client that does not accept it has stored decoded content, and its ranges count decoded bytes.
  private func namedForm(of stored: StoredResponse) -> NamedForm? {
    let fields = request.head.fields
    var tags = request.match ?? []
    if case .tags(let list)? = EntityTagList(fields.all(.ifNoneMatch)) { tags += list }
    if fields.contains(.range), case .tag(let tag)? = IfRange(fields) { tags = [tag] }
    for tag in tags {
      if stored.body.tagLimit(tag.opaque) != nil { return .itself }
      if let own = stored.head.validators.tag, own.matchesWeakly(tag) { return .itself }
    }
    return tags.lazy.compactMap { self.formNamed(by: $0, of: stored) }.first.map(NamedForm.form)
  }

  /// The coding of the form that a strong tag names, if the client accepts that coding.
  func formNamed(by tag: EntityTag, of stored: StoredResponse) -> ContentCoding? {
    guard !tag.isWeak, let coding = stored.body.form(namedBy: tag.opaque)?.form.coding,
      AcceptEncoding(request.head.fields).accepts(coding)
    else { return nil }
    return coding
  }

  // MARK: - Kept ones

  private func kept(_ body: StoredBody, in coding: ContentCoding, of stored: StoredResponse) -> Form {
    let form = stored.form(body, in: coding)
    if body.isComplete { return .kept(form) }
    if !FillCoordinator.isBeingWritten(form), !write(form, in: coding, of: stored) { return .onItsWay(coding) }
    if waitsFor(form, of: stored) { return .later }
    return .kept(form)
  }

  private func makeForm(of stored: StoredResponse, in coding: ContentCoding) {
    enter(.waiting(for: .form, of: stored, nil))
    store.createBody(expected: stored.body.total, total: nil, on: request.loop.loop) { [weak self] body in
      guard let self, self.state.hears(.came(.form), of: stored), !self.channel.hasResponded else { return }
      if let body {
        let isOurs = self.store.publishForm(CodedForm(coding: coding, body: body), of: stored, tag: AnswerTags.mint())
        if isOurs { _ = self.write(stored.form(body, in: coding), in: coding, of: stored) }
      }
      self.serve(stored, self.served)
    }
  }

  /// Starts to write a coded form, if there is memory for one more encoder.
  /// - Returns: whether the form is being written now, or is complete.
  private func write(_ form: StoredResponse, in coding: ContentCoding, of stored: StoredResponse) -> Bool {
    guard let share = request.loop.shared.codingMemory.take(for: coding, isKept: true) else { return false }
    let isBegun = FormWriter.start(form, in: coding, of: stored, in: store, on: downloads, share: share) {
      CacheReader([.body(0, through: nil)], of: stored, for: request.inBackground(), in: store, on: downloads)
    }
    return isBegun
  }

  /// Lets the answer wait for a coded form that is being written: until a short form is complete, or until a form that was left unfinished
  /// reaches the bytes that the client has. Only then it is proven that the form still has the bytes that the client holds.
  /// - Returns: whether the answer has to wait; it is then served again.
  private func waitsFor(_ form: StoredResponse, of stored: StoredResponse) -> Bool {
    let isShort = stored.body.isComplete && stored.body.total.map { $0 <= Self.shortForm } ?? false
    let start = StoredAnswer(form, request: request, served: served, isOutOfPatience: isOutOfPatience).firstByte ?? 0
    let isLeft = form.body.held.contiguousEnd(from: 0) <= start && start > 0
    guard isShort || isLeft, FillCoordinator.isBeingWritten(form) else { return false }
    enter(.waiting(for: .form, of: stored, nil))
    form.body.wait(
      at: form.body.held.contiguousEnd(from: 0), token: ObjectIdentifier(self), on: request.loop.loop
    ) { [weak self] in
      guard let self, self.state.hears(.came(.form), of: stored), !self.channel.hasResponded else { return }
      self.serve(stored, self.served)
    }
    return true
  }
}
