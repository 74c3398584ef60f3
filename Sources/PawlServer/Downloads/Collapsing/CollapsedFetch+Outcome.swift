import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlUpstream

extension CollapsedFetch {
  enum Purpose {
    /// Nothing usable is stored.
    case miss
    /// Something is stored that has validators: ask with them.
    case validate(StoredResponse)
    /// Something is stored without validators: fetch anew, and compare with it.
    case refetch(StoredResponse)
    /// Nothing is stored for this request, but something for other requests: offer its tags to the origin, which may confirm one.
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

  /// How a stored response came to be current.
  enum Arrival: Sendable {
    case fetched(status: Int, why: CacheStatus.ForwardReason)
    case validated, staleOnError
    /// Stored for other requests, and confirmed to this one by the origin.
    case confirmed
  }
}
