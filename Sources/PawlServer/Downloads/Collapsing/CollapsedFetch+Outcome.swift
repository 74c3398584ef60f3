import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlUpstream

extension CollapsedFetch {
  enum Purpose {
    /// Nothing usable is stored.
    case miss
    /// Ask with the stored validators.
    case validate(StoredResponse)
    /// Nothing to validate with: fetch anew and compare with what is stored.
    case refetch(StoredResponse)
    /// Nothing is this request's yet; what others have, the origin may confirm to it.
    case offer([StoredResponse])

    var stored: StoredResponse? {
      switch self {
      case .miss, .offer: nil
      case .validate(let stored), .refetch(let stored): stored
      }
    }
  }

  /// What those who wait are told.
  enum Outcome: Sendable {
    case stored(StoredResponse, Arrival, Sharing)
    /// The answer was for the leader alone: look again, without waiting.
    case notShared
    case failed(OriginFailure)
  }

  /// How a stored response came to be current.
  enum Arrival: Sendable {
    case fetched(status: Int, why: CacheStatus.ForwardReason)
    case validated, staleOnError
    /// Stored for others, and confirmed to this one.
    case confirmed
  }
}
