import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlUpstream

extension CollapsedFetch {
  enum Purpose {
    /// Nothing usable is stored.
    case miss
    /// A response with validators is stored: ask the origin with these validators.
    case validate(StoredResponse)
    /// A response without validators is stored: fetch anew, and compare with the stored one.
    case refetch(StoredResponse)
    /// Nothing is stored for this request, but responses for other requests are: offer their tags to the origin, which may confirm one.
    case offer([StoredResponse])

    var stored: StoredResponse? {
      switch self {
      case .miss, .offer: nil
      case .validate(let stored), .refetch(let stored): stored
      }
    }
  }

  /// The outcome that the waiting requests get.
  enum Outcome: Sendable {
    case stored(StoredResponse, Arrival, Sharing)
    /// The response was for the leader alone: look up the resource again.
    case notShared
    case failed(OriginFailure)
  }

  /// How a stored response became current.
  enum Arrival: Sendable {
    case fetched(status: Int, why: CacheStatus.ForwardReason)
    case validated, staleOnError
    /// The response was stored for other requests, and the origin has confirmed it for this request.
    case confirmed
  }
}
