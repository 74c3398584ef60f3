import PawlCacheStore
import PawlLoop

/// The state of a download between its request and its response. Each case carries the values that only this state has. Whether the
/// response has begun is a property of the channel.
enum DownloadState {
  /// What a download waits for before it can answer from a stored response.
  enum Wait: Hashable, CaseIterable {
    /// The total length of the body.
    case total
    /// The comparison that shows whether the body is the one that the client's tag names.
    case twin
    /// The comparison that shows which tag the body has.
    case name
    /// The first bytes of the answer, which are read back and verified, or mended.
    case bytes
    /// The origin's confirmation that it still has the representation of which a part is held.
    case confirmation
    /// The same confirmation for a body that is held for this user alone.
    case continuation
    /// The coded form that pawl makes of the body.
    case form
  }

  /// Nothing is waited for: the resource is being looked up or read from the catalogue, or the answer is being sent.
  case deciding
  /// This exchange leads a fetch: its request was sent to the origin.
  case leading(CollapsedFetch)
  /// The exchange waits for the fetch of another exchange.
  case joined(CollapsedFetch)
  /// A ``PrivateResumption`` finds out whether a response that is kept for one user is also the response for this user.
  case resuming
  /// The exchange waits as ``Wait`` says. The timer, if there is one, limits this wait only.
  case waiting(for: Wait, of: StoredResponse, LoopTimer?)
  /// The request was forwarded to the origin as it is.
  case forwarded(ForwardExchange)
  /// The client has its response, or has left. The content of a forwarded request may still be on its way to the origin.
  case over(ForwardExchange?)

  /// The cases without their values.
  enum Place: Hashable {
    case deciding, leading, joined, resuming
    case waiting(for: Wait)
    case forwarded, over
  }

  enum Event: Hashable {
    /// The resource's rows were read from the catalogue.
    case loaded
    /// The fetch that this exchange leads has an outcome.
    case outcome
    /// The fetch that this exchange joined has an outcome.
    case told
    case joinedTooLong
    case patienceIsOver
    case came(Wait)
  }

  var place: Place {
    switch self {
    case .deciding: .deciding
    case .leading: .leading
    case .joined: .joined
    case .resuming: .resuming
    case .waiting(let wait, _, _): .waiting(for: wait)
    case .forwarded: .forwarded
    case .over: .over
    }
  }

  /// Whether an event is handled in this state. A late event, for a wait that was given up since, is ignored.
  static func hears(_ event: Event, at place: Place) -> Bool {
    switch (event, place) {
    case (.loaded, .deciding): true
    case (.outcome, .leading), (.outcome, .resuming): true
    case (.told, .joined), (.joinedTooLong, .joined): true
    // In the other states the complete body is already on its way, or it is not known yet whether a part can be given.
    case (.patienceIsOver, .waiting): true
    case (.came(let event), .waiting(let wait)): event == wait
    case (.loaded, _), (.outcome, _), (.told, _), (.joinedTooLong, _), (.patienceIsOver, _), (.came, _): false
    }
  }

  func hears(_ event: Event) -> Bool { Self.hears(event, at: place) }

  /// Whether the event is what the exchange waits for, about this very response.
  func hears(_ event: Event, of stored: StoredResponse) -> Bool {
    guard case .waiting(_, let waited, _) = self else { return false }
    return waited === stored && hears(event)
  }

  var isOver: Bool { if case .over = self { true } else { false } }

  /// Whether the request may still be answered from a stored response, unless its response has begun.
  var isOpen: Bool {
    switch self {
    case .deciding, .leading, .joined, .resuming, .waiting: true
    case .forwarded, .over: false
    }
  }

  /// The exchange that forwards the request as it is.
  var forward: ForwardExchange? {
    switch self {
    case .forwarded(let forward): forward
    case .over(let forward): forward
    case .deciding, .leading, .joined, .resuming, .waiting: nil
    }
  }
}
