import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlUpstream
import PawlWire

/// The exchange whose request a ``CollapsedFetch`` sends. It may get interim responses, and then gets one outcome.
protocol FetchLeader: AnyObject {
  func interim(_ head: ResponseHead)
  /// Called when the response is stored, or a stored response may be used.
  /// - Parameter setCookies: the `Set-Cookie` values for the leader, which are not stored.
  func fetched(_ stored: StoredResponse, _ arrival: CollapsedFetch.Arrival, setCookies: [Bytes])
  /// Called when the response is not stored, but passed on while it comes.
  func passOn(
    _ head: ResponseHead, _ framing: BodyFraming, body: StreamRelay?, why reason: CacheStatus.ForwardReason)
  /// Called when the response is not stored, and all of its content came with the head.
  func passOn(_ head: ResponseHead, content: UnsafeRawBufferPointer, why reason: CacheStatus.ForwardReason)
  /// Called when the request has to be forwarded as it is, because the origin was asked for something else, and its response cannot be
  /// stored.
  func asksAsItStands(_ reason: CacheStatus.ForwardReason)
  func fetchFailed(_ failure: OriginFailure)
}
