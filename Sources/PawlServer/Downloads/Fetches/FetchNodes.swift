import PawlCache
import PawlHTTP

/// Which of several URLs of an upstream a content comes from, and what proves that another one has the same: each may have validators of
/// its own for equal bytes. Of one fetch; with one URL there is none.
final class FetchNodes {
  /// How many URLs there are.
  private let count: Int
  /// The one whose validators ``identity`` has; `nil`: nobody knows.
  private(set) var holder: Int?
  /// As another node described what was compared with what is held; until then nothing.
  private(set) var identity: RepresentationIdentity?
  /// Whose answer is being read, or was read last: it may be over before all of it is compared.
  private var answering: Int?
  /// Of the answer that is being compared, while it is not proven.
  private var candidate: (url: Int, identity: RepresentationIdentity)?
  /// Those that have had something else since there was progress.
  private var disagreed: Set<Int> = []
  /// Whether another one has taken over.
  private(set) var hasSwitched = false

  init(count: Int) { self.count = count }

  private var areSeveral: Bool { count > 1 }

  /// The first answer came from there.
  func answered(by url: Int?) { if areSeveral { holder = url } }

  /// A head came from there, the first one or a later one.
  func answers(_ url: Int?) { if areSeveral { answering = url } }

  /// Which of them is to be asked first; `nil`: as the rotation has it.
  var preferred: Int? {
    guard areSeveral else { return nil }
    if let holder, !disagreed.contains(holder) { return holder }
    return disagreed.isEmpty ? nil : (0..<count).first { !disagreed.contains($0) }
  }

  /// Whether an answer from there may have other validators for the same bytes.
  func isOther(_ url: Int?) -> Bool { areSeveral && (url == nil || url != holder) }

  /// The one that answered last has something else, or nothing.
  /// - Returns: whether another one may still have it.
  func disagrees() -> Bool {
    candidate = nil
    guard areSeveral, let answering else { return false }
    disagreed.insert(answering)
    return disagreed.count < count
  }

  /// A whole answer from there is being compared with what is held.
  func compares(
    _ url: Int?, _ head: ResponseHead, _ framing: BodyFraming, total: UInt64?, receivedAt now: Int64
  ) {
    guard isOther(url), let url else { return }
    var identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
    identity.total = identity.total ?? total
    candidate = (url, identity)
  }

  /// Something new has been handed on: what came before it was equal.
  /// - Returns: whether that shows, for the first time, that two nodes describe equal bytes otherwise.
  func progressed(known: RepresentationIdentity?) -> Bool {
    if !disagreed.isEmpty { disagreed = [] }
    guard let candidate else { return false }
    self.candidate = nil
    let isNews = !hasSwitched && (identity ?? known)?.tag != candidate.identity.tag
    (holder, identity, hasSwitched) = (candidate.url, candidate.identity, true)
    return isNews
  }

  /// The attempt is over.
  func attemptEnded() { candidate = nil }
}
