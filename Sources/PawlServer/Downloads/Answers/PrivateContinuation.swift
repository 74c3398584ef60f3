import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// A private body of which a part is held and that nobody fills any more: its origin broke off for good, its last client left,
/// or pawl was started anew. The origin is asked to go on, with this request's own cookies and credentials: the body grows
/// where the origin gives the same, and else stays as it is.
extension DownloadExchange {
  /// Gives what is held to whom it is open, and the rest of it.
  /// - Parameter asker: what the request shows.
  func open(_ stored: StoredResponse, for asker: PrivateOwner) {
    if stored.body.isComplete || FillCoordinator.isFilling(stored) { return serveOpened(stored) }
    let shape = shape(of: stored)
    guard isProvable(shape, of: stored) else { return look() }
    switch shape {
    case .whole: look()
    case .notModified, .unsatisfiable: serveOpened(stored)
    case .part(let range) where stored.body.holds(range): serveOpened(stored)
    case .parts(let ranges) where ranges.allSatisfy(stored.body.holds): serveOpened(stored)
    case .part, .parts, .needsTotal:
      let hasBegun = goOn(with: stored) { [weak self] isProven in
        // What is held is this user's either way, and what does not go on with it ends it visibly.
        isProven != false ? self?.serveOpened(stored) : self?.lookInstead()
      }
      guard !hasBegun else { return }
      FillCoordinator.isFilling(stored) ? serveOpened(stored) : PrivateResumption.start(self, of: stored, for: asker)
    }
  }

  /// For one of those that nobody can tell from the one it was kept for: nothing of it is given before the origin has given this
  /// very request the same. What it gives then goes on with the body, which is open to nobody.
  func openOnceProven(_ stored: StoredResponse, for asker: PrivateOwner) {
    let (shape, isThere) = (shape(of: stored), stored.body.isComplete || FillCoordinator.isFilling(stored))
    let isPart = if case .part = shape { true } else { shape == .needsTotal }
    let hasBegun =
      isPart && !isThere && isProvable(shape, of: stored)
      && goOn(with: stored) { [weak self] isProven in
        isProven == true ? self?.serveOpened(stored) : self?.lookInstead()
      }
    if !hasBegun { PrivateResumption.start(self, of: stored, for: asker) }
  }

  /// Whether all before what is asked for is held, or can be known again: what comes behind it may be another's otherwise.
  private func isProvable(_ shape: AnswerShape, of stored: StoredResponse) -> Bool {
    if let tag = stored.head.validators.tag, !tag.isWeak { return true }
    let end = stored.body.known.contiguousEnd(from: 0)
    return switch shape {
    case .part(let range): range.first <= end
    case .parts(let ranges): ranges.allSatisfy { $0.first <= end }
    case .whole, .notModified, .unsatisfiable, .needsTotal: true
    }
  }

  private func shape(of stored: StoredResponse) -> AnswerShape {
    StoredAnswer(stored, request: request, served: Self.opened, isOutOfPatience: false).shape
  }

  private static var opened: Served { Served(arrival: nil, isCollapsed: false) }

  private func serveOpened(_ stored: StoredResponse) { serve(stored, Self.opened) }

  private func lookInstead() {
    letKeeperGo()
    look()
  }

  /// - Parameter then: called once, unless the client leaves before: whether the origin has given the same; `nil` when that takes
  ///   longer than ``patience``.
  /// - Returns: `false` where nothing was begun.
  private func goOn(with stored: StoredResponse, then: @escaping (_ isProven: Bool?) -> Void) -> Bool {
    guard !CacheControl(request.head.fields).onlyIfCached else { return false }
    // A fill without readers might pause.
    keep(stored, from: stored.body.held.prefix)
    let decided = { [weak self] (isProven: Bool?) in
      guard let self, self.state.hears(.came(.continuation), of: stored) else { return }
      self.enter(.deciding)
      then(isProven)
    }
    let timer = request.loop.loop.makeTimer { decided(nil) }
    enter(.waiting(for: .continuation, of: stored, timer))
    let hasBegun = Fill.goOn(with: stored, for: request, in: store, on: downloads) { confirmation in
      if case .same = confirmation { decided(true) } else { decided(false) }
    }
    if hasBegun {
      timer.schedule(after: Self.patience)
    } else {
      enter(.deciding)
      letKeeperGo()
    }
    return hasBegun
  }
}

extension Fill {
  /// Goes on with a private body from where what is held of it ends, for a request that it is open for: by a range that is tied to
  /// the origin's strong tag, or with the whole body from its first byte on, compared with what is held.
  /// - Parameter confirmed: called once, where it is begun: when all that is held has come again, or its end has in a part that
  ///   the origin ties to its strong tag; or when that is not to be had.
  /// - Returns: `false` where nothing could prove what comes, or somebody else brings it.
  static func goOn(
    with response: StoredResponse, for request: IncomingRequest, in store: CacheStore,
    on downloads: LoopDownloads, confirmed: @escaping (Confirmation) -> Void
  ) -> Bool {
    let (body, held) = (response.body, response.body.held.prefix)
    // What lies behind a hole would be joined to what comes without a look at it.
    guard response.personal != nil, held > 0, body.held.count == held, body.failure == nil else { return false }
    let fill = Fill(goingOnWith: response, from: held, for: request, in: store, on: downloads)
    let end = body.total ?? .max
    guard held < end,
      let coordinator = FillCoordinator.beganUnlessComing(fill, response, on: fill.downloads.loop, held..<end)
    else {
      // The two would hold each other.
      fill.fetch?.cancel()
      return false
    }
    fill.confirmed = confirmed
    fill.downloads.fills[ObjectIdentifier(fill)] = fill
    fill.coordinator = coordinator
    let identity = coordinator.identity
    // The first attempt is no repetition.
    let progress = ResumeProgress(held: held, attemptLimit: 1, replayFactor: 1)
    fill.fetch?.goOn(
      from: held, since: 0, through: body.total, of: identity,
      asking: decideResume(held: held, spanStart: 0, identity: identity, progress: progress))
    return true
  }
}

extension StoredBody {
  /// Whether all of a range is held.
  fileprivate func holds(_ range: ByteRange) -> Bool { held.contiguousEnd(from: range.first) >= range.end }
}
