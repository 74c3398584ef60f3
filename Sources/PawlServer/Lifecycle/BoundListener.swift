import PawlConfig
import PawlLoop

/// An address on which the server listens, on one loop or on all.
struct BoundListener: Sendable {
  /// A number that is unique in this process. The ``ListenerOnLoop`` of each loop has the same one.
  let id: Int
  /// The address as it is configured; its port may be 0.
  let configured: ListenAddress
  /// The address with the port that the kernel chose.
  let bound: SocketAddress
  /// The settings in force.
  var settings: PawlConfig.ListenerSettings
  var isSecure: Bool { !settings.tls.isEmpty }
}

/// The listeners of a configuration, those that have to be bound for it, and those that end with it.
struct ListenerPlan: Sendable {
  /// One listener of the new configuration; `id` is `nil` if it has to be bound.
  struct Wanted: Sendable {
    var id: Int?
    var address: ListenAddress
    var settings: PawlConfig.ListenerSettings
  }

  private(set) var wanted: [Wanted] = []
  private(set) var ending: [BoundListener]

  /// Finds for each address of the configuration the listener that has it already. Addresses are compared as they are configured, so
  /// that a listener with port 0 keeps the port that the kernel chose.
  init(_ listeners: [PawlConfig.ListenerSettings], present: [BoundListener]) {
    ending = present
    for settings in listeners {
      for address in settings.addresses {
        let index = ending.firstIndex { $0.configured == address }
        wanted.append(Wanted(id: index.map { ending[$0].id }, address: address, settings: settings))
        if let index { ending.remove(at: index) }
      }
    }
  }

  /// The listeners that end and have the same port as `address`. They may keep it from being bound: `0.0.0.0:80` and `127.0.0.1:80`
  /// exclude each other.
  func rivals(of address: SocketAddress) -> [BoundListener] {
    guard !address.isUnix, address.port != 0 else { return [] }
    return ending.filter { !$0.bound.isUnix && $0.bound.port == address.port }
  }
}
