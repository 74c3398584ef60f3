import CLinux
import PawlConfig
import PawlDisk
import PawlLoop
import PawlObserve

/// The start while another pawl with the same directories drains: this one binds the addresses, which that one has closed, and waits
/// for the directories. Clients that connect meanwhile wait in the kernel.
extension Server {
  /// The longest time that a start waits for a pawl that ends. After that the start fails, because the directory is in use.
  static let formerTime = Duration.seconds(120)
  private static let lookEvery: useconds_t = 20_000

  /// Waits until no pawl that drains has a directory of this configuration. Blocking; before anything of the server runs.
  /// - Parameter bind: called once if there is something to wait for, before the wait.
  static func awaitFormer(
    _ configuration: PawlConfig.Configuration, _ events: EventLog, within limit: Duration = formerTime,
    bind: () throws(ServerError) -> Void
  ) throws(ServerError) {
    let paths = configuration.caches.map(\.path) + configuration.spools.map(\.path)
    guard let first = paths.first(where: DirectoryLock.isAboutToBeReleased) else { return }
    try bind()
    events.log(.notice, "waiting-for-end", ["path": first])
    let clock = SystemClock()
    let end = clock.now().advanced(by: limit)
    while clock.now() < end, paths.contains(where: DirectoryLock.isAboutToBeReleased) { usleep(lookEvery) }
  }
}
