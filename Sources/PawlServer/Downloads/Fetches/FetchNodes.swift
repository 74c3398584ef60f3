import PawlCache
import PawlHTTP

/// The nodes (URLs of one upstream) of a fetch: the node that the content comes from, and what proves that another node has the same
/// content. Each node may have its own validators for equal bytes. Belongs to one fetch; not used if the upstream has only one URL.
final class FetchNodes {
  /// The number of URLs of the upstream.
  private let count: Int
  /// The index of the node whose validators are used to ask for the rest; `nil`: unknown.
  private(set) var holder: Int?
  /// The representation as another node describes it, after the bytes of that node were found equal to the held ones; `nil` before.
  private(set) var identity: RepresentationIdentity?
  /// The node whose response is being read, or was read last. It stays set after the end of the response, because the last bytes may still
  /// have to be compared.
  private var answering: Int?
  /// The node whose response is being compared, and how that node describes the representation. Reset when the bytes are proven equal, or
  /// the attempt ends.
  private var candidate: (url: Int, identity: RepresentationIdentity)?
  /// The nodes that were found, since new bytes were last delivered, to have different content or no content.
  private var disagreed: Set<Int> = []
  /// Whether another node than the first one has continued the content.
  private(set) var hasSwitched = false

  init(count: Int) { self.count = count }

  private var areSeveral: Bool { count > 1 }

  /// Notes the node from which the first response came.
  func answered(by url: Int?) { if areSeveral { holder = url } }

  /// Notes the node that sent the head of the present response, which may be the first response or a later one.
  func answers(_ url: Int?) { if areSeveral { answering = url } }

  /// The node to ask first; `nil`: the next node in the rotation.
  var preferred: Int? {
    guard areSeveral else { return nil }
    if let holder, !disagreed.contains(holder) { return holder }
    return disagreed.isEmpty ? nil : (0..<count).first { !disagreed.contains($0) }
  }

  /// Whether a response from this node may have other validators for the same bytes.
  func isOther(_ url: Int?) -> Bool { areSeveral && (url == nil || url != holder) }

  /// Notes that the node which responded last has different content, or no content.
  /// - Returns: whether another node may still have the content.
  func disagrees() -> Bool {
    candidate = nil
    guard areSeveral, let answering else { return false }
    disagreed.insert(answering)
    return disagreed.count < count
  }

  /// Notes that a complete response from this node is being compared with the held bytes.
  func compares(
    _ url: Int?, _ head: ResponseHead, _ framing: BodyFraming, total: UInt64?, receivedAt now: Int64
  ) {
    guard isOther(url), let url else { return }
    var identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
    identity.total = identity.total ?? total
    candidate = (url, identity)
  }

  /// Notes that new bytes were delivered. So all bytes that were compared before them were equal.
  /// - Returns: whether it is now known, for the first time, that two nodes describe equal bytes with different validators.
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
