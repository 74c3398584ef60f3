import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlUpstream
import PawlWire

/// The exchange whose request a ``CollapsedFetch`` sends. It gets the outcome once, and interim responses before that.
protocol FetchLeader: AnyObject {
  func interim(_ head: ResponseHead)
  /// The response is stored, or a stored response may be used.
  /// - Parameter setCookies: the `Set-Cookie` values for the leader, which are not stored.
  func fetched(_ stored: StoredResponse, _ arrival: CollapsedFetch.Arrival, setCookies: [Bytes])
  /// The response is not stored, and is passed on while it comes.
  func passOn(
    _ head: ResponseHead, _ framing: BodyFraming, body: StreamRelay?, why reason: CacheStatus.ForwardReason)
  /// The same for a response whose content has come as a whole.
  func passOn(_ head: ResponseHead, content: UnsafeRawBufferPointer, why reason: CacheStatus.ForwardReason)
  /// The request has to be forwarded as it is: the origin was asked for something else, and nothing of its response can be stored.
  func asksAsItStands(_ reason: CacheStatus.ForwardReason)
  func fetchFailed(_ failure: OriginFailure)
}
