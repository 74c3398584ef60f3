import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// Continues a private body of which only a part is held and that no fill completes any more: all attempts after a break have failed, the
/// last client has left, or pawl was restarted. The origin is asked with this request's own cookies and credentials. The body grows if the
/// origin gives the same bytes; otherwise it stays as it is.
extension DownloadExchange {
  /// Serves a private body, and has its rest fetched. The request may have the held bytes before the origin is asked.
  /// - Parameter asker: the credentials, cookies and other values by which the request is recognised.
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
        // If the origin takes too long (`nil`), the held bytes are served all the same, because they are this user's. If the origin's
        // content then does not continue them, the response is cut off.
        isProven != false ? self?.serveOpened(stored) : self?.lookInstead()
      }
      guard !hasBegun else { return }
      FillCoordinator.isFilling(stored) ? serveOpened(stored) : PrivateResumption.start(self, of: stored, for: asker)
    }
  }

  /// Serves a private body whose owner cannot be recognised, to a request that shows the same values as the owner's request. No byte is
  /// sent before the origin has given the same bytes to this very request. The origin's new bytes then continue the body, but every other
  /// request needs such a proof, too.
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

  /// Whether all bytes before the requested ones can be proven: by a strong tag, or because they are held or have recorded digests. Without
  /// this proof, the bytes that come could belong to another user's body.
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
    removePlaceholder()
    look()
  }

  /// Asks the origin to continue a private body.
  /// - Parameter then: called once, unless the client leaves first. `isProven`: whether the origin has given the same bytes; `nil`: it
  ///   takes longer than ``patience``.
  /// - Returns: `false` if no fill was begun.
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
      removePlaceholder()
    }
    return hasBegun
  }
}

extension Fill {
  /// Starts a fill that continues a private body after its held bytes, for a request that may have the body. If the origin gave a strong
  /// tag, the fill asks for a range that is tied to this tag. Otherwise it asks for the complete body, which is compared with the held
  /// bytes.
  /// - Parameter confirmed: called once, if the fill was begun. ``Confirmation/same``: all held bytes have come again, or the origin has
  ///   sent the last of them again, in a range that it ties to its strong tag. Any other value: neither has happened.
  /// - Returns: `false` if the body cannot be continued, or if another fill brings the rest.
  static func goOn(
    with response: StoredResponse, for request: IncomingRequest, in store: CacheStore,
    on downloads: LoopDownloads, confirmed: @escaping (Confirmation) -> Void
  ) -> Bool {
    let (body, held) = (response.body, response.body.held.prefix)
    // Bytes after a hole would be joined to the new ones without a comparison.
    guard response.personal != nil, held > 0, body.held.count == held, body.failure == nil else { return false }
    let fill = Fill(goingOnWith: response, from: held, for: request, in: store, on: downloads)
    let end = body.total ?? .max
    guard held < end,
      let coordinator = FillCoordinator.beganUnlessComing(fill, response, on: fill.downloads.loop, held..<end)
    else {
      // Without this call, the fill and its fetch would keep each other in memory.
      fill.fetch?.cancel()
      return false
    }
    fill.confirmed = confirmed
    fill.downloads.fills[ObjectIdentifier(fill)] = fill
    fill.coordinator = coordinator
    let identity = coordinator.identity
    // This value decides only the first request; the limits of the route apply to the later ones.
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
