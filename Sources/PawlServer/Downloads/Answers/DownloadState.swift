import PawlCacheStore
import PawlLoop

/// Where a download is between its request and its answer; each case carries what only that place has. That the answer has begun is
/// the channel's to say.
enum DownloadState {
  /// What it waits for before it can answer from what is stored.
  enum Wait: Hashable, CaseIterable {
    /// The length of the whole.
    case total
    /// Whether the body is the one that the client's tag names.
    case twin
    /// Which tag the body has.
    case name
    /// The first bytes of the answer: read back, or mended.
    case bytes
    /// The origin's word that it still has what is held in part.
    case confirmation
    /// The same of what is held for this user alone.
    case continuation
    /// The form in a content coding that pawl makes of it.
    case form
  }

  /// Nothing is asked of anybody: what is stored is being looked at or read from the catalogue, or the answer is on its way.
  case deciding
  /// The origin is asked on its behalf.
  case leading(CollapsedFetch)
  /// It waits for another's answer.
  case joined(CollapsedFetch)
  /// Its ``PrivateResumption`` finds out whether what is kept for one user is this one's, too.
  case resuming
  /// The timer, where there is one, ends this wait alone.
  case waiting(for: Wait, of: StoredResponse, LoopTimer?)
  /// The origin has the request as it stands.
  case forwarded(ForwardExchange)
  /// The client has its answer, or has left; what was forwarded may still take content of the request.
  case over(ForwardExchange?)

  /// The cases without what they carry.
  enum Place: Hashable {
    case deciding, leading, joined, resuming
    case waiting(for: Wait)
    case forwarded, over
  }

  enum Event: Hashable {
    /// What the catalogue has of the resource is read.
    case loaded
    /// Of the fetch that it leads.
    case outcome
    /// Of the fetch that it joined.
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

  /// Whether an event means something where the download is; what comes late, for what was given up since, does not.
  static func hears(_ event: Event, at place: Place) -> Bool {
    switch (event, place) {
    case (.loaded, .deciding): true
    case (.outcome, .leading), (.outcome, .resuming): true
    case (.told, .joined), (.joinedTooLong, .joined): true
    // Elsewhere the whole is on its way already, or nobody knows yet whether there is a part to be had.
    case (.patienceIsOver, .waiting): true
    case (.came(let event), .waiting(let wait)): event == wait
    case (.loaded, _), (.outcome, _), (.told, _), (.joinedTooLong, _), (.patienceIsOver, _), (.came, _): false
    }
  }

  func hears(_ event: Event) -> Bool { Self.hears(event, at: place) }

  /// Whether what came is what it waits for, of this very response.
  func hears(_ event: Event, of stored: StoredResponse) -> Bool {
    guard case .waiting(_, let waited, _) = self else { return false }
    return waited === stored && hears(event)
  }

  var isOver: Bool { if case .over = self { true } else { false } }

  /// Whether it may still be answered from what is stored, unless it has been.
  var isOpen: Bool {
    switch self {
    case .deciding, .leading, .joined, .resuming, .waiting: true
    case .forwarded, .over: false
    }
  }

  /// What has the request as it stands.
  var forward: ForwardExchange? {
    switch self {
    case .forwarded(let forward): forward
    case .over(let forward): forward
    case .deciding, .leading, .joined, .resuming, .waiting: nil
    }
  }
}
