import PawlCache
import PawlHTTP

/// The node (one of several URLs of an upstream) from which a content comes, and what proves that another node has the same content. Each
/// node may have its own validators for equal bytes. Belongs to one fetch; an upstream with one URL needs none.
final class FetchNodes {
  /// The number of URLs of the upstream.
  private let count: Int
  /// The index of the node whose validators are used to ask for the rest; `nil`: unknown.
  private(set) var holder: Int?
  /// The representation as described by another node whose bytes were compared with the held ones; `nil` until then.
  private(set) var identity: RepresentationIdentity?
  /// The node whose response is being read, or was read last. The response may be over before all of it is compared.
  private var answering: Int?
  /// The node whose response is being compared, with its description of the representation, until it is proven.
  private var candidate: (url: Int, identity: RepresentationIdentity)?
  /// The nodes that had another content since the last progress.
  private var disagreed: Set<Int> = []
  /// Whether another node has taken over.
  private(set) var hasSwitched = false

  init(count: Int) { self.count = count }

  private var areSeveral: Bool { count > 1 }

  /// Notes the node from which the first response came.
  func answered(by url: Int?) { if areSeveral { holder = url } }

  /// Notes the node from which a response head came, the first one or a later one.
  func answers(_ url: Int?) { if areSeveral { answering = url } }

  /// The node to ask first; `nil`: the one that is next in rotation.
  var preferred: Int? {
    guard areSeveral else { return nil }
    if let holder, !disagreed.contains(holder) { return holder }
    return disagreed.isEmpty ? nil : (0..<count).first { !disagreed.contains($0) }
  }

  /// Whether a response from this node may have other validators for the same bytes.
  func isOther(_ url: Int?) -> Bool { areSeveral && (url == nil || url != holder) }

  /// Notes that the node which responded last has another content, or none.
  /// - Returns: whether another node may still have the content.
  func disagrees() -> Bool {
    candidate = nil
    guard areSeveral, let answering else { return false }
    disagreed.insert(answering)
    return disagreed.count < count
  }

  /// Notes that a whole response from this node is being compared with the held bytes.
  func compares(
    _ url: Int?, _ head: ResponseHead, _ framing: BodyFraming, total: UInt64?, receivedAt now: Int64
  ) {
    guard isOther(url), let url else { return }
    var identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
    identity.total = identity.total ?? total
    candidate = (url, identity)
  }

  /// Notes that new bytes were delivered: so the compared bytes before them were equal.
  /// - Returns: whether this shows, for the first time, that two nodes describe equal bytes with different validators.
  func progressed(known: RepresentationIdentity?) -> Bool {
    if !disagreed.isEmpty { disagreed = [] }
    guard let candidate else { return false }
    self.candidate = nil
    let isNews = !hasSwitched && (identity ?? known)?.tag != candidate.identity.tag
    (holder, identity, hasSwitched) = (candidate.url, candidate.identity, true)
    return isNews
  }

  /// Notes that the attempt is over.
  func attemptEnded() { candidate = nil }
}
