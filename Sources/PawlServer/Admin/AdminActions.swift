import PawlCacheStore
import PawlConfig
import PawlObserve
import PawlTLS
import PawlUpstream

/// What the admin interface can have the process do, and ask it. Implemented where the server lives and ends. Any thread; no call
/// waits.
protocol AdminActions: AnyObject, Sendable {
  /// The server as it is now.
  func picture() -> ServerPicture
  /// Reads the configuration again and applies it.
  /// - Parameter then: called once, on any thread, with what came of it.
  func reload(_ then: @escaping @Sendable (ReloadOutcome) -> Void)
  /// Drains, then ends.
  /// - Parameter isNow: whether running transfers are cut at once.
  func end(isNow: Bool)
  /// Starts a new binary that takes over.
  /// - Parameter then: called once, on any thread, with the reason why there is no upgrade; `nil`: the new binary serves.
  func upgrade(_ then: @escaping @Sendable (String?) -> Void)
  /// Opens the log files again.
  /// - Parameter then: called once, on any thread, with the reasons why files could not be opened.
  func reopenLogs(_ then: @escaping @Sendable ([String]) -> Void)
  /// Reads all metrics, without a wait for any loop.
  func metrics() -> MetricsSnapshot
  /// The loops whose transfers can be listed.
  var transferSources: [TransferSource] { get }
}

/// The parts of the running server that an operator asks about, and what is in force. The parts are shared with the server; what
/// they hold now is read from them by any thread.
struct ServerPicture: Sendable {
  struct Origin: Sendable {
    var section: UpstreamSection
    var upstream: Upstream
  }

  /// The last reload: when, and what came of it.
  struct Reload: Sendable {
    /// Seconds since 1970.
    var at: Int64
    var outcome: ReloadOutcome
  }

  var configuration: Configuration
  /// When the process began to serve, seconds since 1970.
  var startedAt: Int64
  /// How many configurations have been in force, the first one included.
  var generation = 1
  var lastReload: Reload?
  var isDraining = false
  /// The processes that this one has taken over from and that still finish their transfers.
  var stillDraining: [Int32] = []
  /// The addresses that clients connect to, as URLs.
  var urls: [String] = []
  var loopCount = 0
  var openConnections = 0
  var maxConnections = 0
  var origins: [Origin] = []
  var caches: [(name: String, store: CacheStore)] = []
  var spools: [OpenSpool] = []
  var certificates: [CertificateFacts] = []
}
