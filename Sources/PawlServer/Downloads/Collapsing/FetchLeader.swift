import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlUpstream
import PawlWire

/// Whose request a ``CollapsedFetch`` is sent for: it is told what came of it, once, and of what the origin says before.
protocol FetchLeader: AnyObject {
  func interim(_ head: ResponseHead)
  /// The answer is stored, or what is stored may be used.
  /// - Parameter setCookies: the leader's own, which are not stored.
  func fetched(_ stored: StoredResponse, _ arrival: CollapsedFetch.Arrival, setCookies: [Bytes])
  /// An answer that is not kept, on its way through.
  func passOn(
    _ head: ResponseHead, _ framing: BodyFraming, body: StreamRelay?, why reason: CacheStatus.ForwardReason)
  /// The same of one that is whole.
  func passOn(_ head: ResponseHead, content: UnsafeRawBufferPointer, why reason: CacheStatus.ForwardReason)
  /// What the origin was asked is not what the client wants, and nothing of its answer can be kept.
  func asksAsItStands(_ reason: CacheStatus.ForwardReason)
  func fetchFailed(_ failure: OriginFailure)
}
