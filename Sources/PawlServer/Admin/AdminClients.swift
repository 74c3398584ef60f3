import PawlDisk

/// The connections to the admin interface. Those of unix sockets have places of their own: no client on the network can keep an
/// operator of this machine out. A client over TCP has proved nothing until its first request with a token or a certificate; of such
/// clients there are few at a time, and the oldest one is closed when another one connects. On the admin loop.
final class AdminClients {
  /// The most connections over unix sockets, and over TCP.
  static let mostLocal = 64
  static let mostRemote = 64
  /// The most connections over TCP that have not proved who they are.
  static let mostUnproven = 32

  let local: LoopConnections
  let remote: LoopConnections
  private let admissions: (local: ConnectionAdmission, remote: ConnectionAdmission)
  /// The connections that have not proved who they are, the oldest first.
  private var unproven: [any ServedConnection] = []

  init(_ downloads: LoopDownloads, dispatch: any RequestDispatch) {
    let events = downloads.services.events
    admissions = (
      ConnectionAdmission(limit: Self.mostLocal, trusted: [], events: events),
      ConnectionAdmission(limit: Self.mostRemote, trusted: [], events: events)
    )
    local = LoopConnections(downloads, admission: admissions.local, dispatch: dispatch)
    remote = LoopConnections(downloads, admission: admissions.remote, dispatch: dispatch)
  }

  /// Counts one more connection. Returns `false` if there is no place for it; it then has to be closed.
  func admit(isLocal: Bool, _ failures: FailureLog) -> Bool {
    guard !isLocal else { return admissions.local.admit(failures) }
    unproven.removeAll { $0.place.isNone }
    if unproven.count >= Self.mostUnproven {
      unproven.removeFirst().abandonAll(BodyEnd(party: .pawl, reason: "unproven"))
    }
    return admissions.remote.admit(failures)
  }

  /// The connections among which one of the kind belongs.
  func all(isLocal: Bool) -> LoopConnections { isLocal ? local : remote }

  /// Takes a connection that has just begun, or that takes the place of another one of the same client.
  func add(_ connection: any ServedConnection, isLocal: Bool, after former: (any ServedConnection)? = nil) {
    all(isLocal: isLocal).add(connection)
    guard !isLocal else { return }
    if let former, let index = unproven.firstIndex(where: { $0 === former }) {
      unproven[index] = connection
    } else {
      unproven.append(connection)
    }
  }

  /// Notes that the client of a connection has proved that it may see everything.
  func prove(_ connection: any ServedConnection) { unproven.removeAll { $0 === connection } }

  func end() {
    for connections in [local, remote] { connections.abandon() }
  }

  func letGo() {
    unproven = []
    for connections in [local, remote] { connections.letGo() }
  }
}
