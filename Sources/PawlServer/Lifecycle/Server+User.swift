import CLinux
import PawlBase
import PawlConfig
import PawlDisk
import PawlLoop

/// The user that pawl becomes once its addresses are bound and its keys are read.
extension Server {
  /// Becomes the `user` and `group` of the configuration. Before that, binds the addresses, which may need root, and makes the
  /// directories that are missing. Does nothing without these keys.
  /// - Returns: the names by which the bound sockets are taken from `sockets`, by address.
  static func becomeUser(
    _ configuration: PawlConfig.Configuration, binding sockets: InheritedSockets
  ) throws(ServerError) -> [ListenAddress: [String]] {
    let process = configuration.process
    guard process.user != nil || process.group != nil else { return [:] }
    let account: Account
    do throws(Account.Failure) { account = try Account(user: process.user, group: process.group) } catch {
      throw .account(error.description)
    }
    guard !account.isCurrent else { return [:] }
    guard geteuid() == 0 else { throw .account("\(Account.Failure.notRoot(account.name))") }
    let names = try bindAll(configuration, sockets, owner: (account.user, account.group))
    try makeDirectories(configuration, account)
    do throws(Account.Failure) { try account.become() } catch { throw .account(error.description) }
    return names
  }

  /// Binds all addresses for which no socket was passed. Clients that connect wait in the kernel.
  /// - Parameter owner: who gets the files of unix sockets.
  /// - Returns: the names by which the bound sockets are taken from `sockets`, by address.
  static func bindAll(
    _ configuration: PawlConfig.Configuration, _ sockets: InheritedSockets, owner: (user: uid_t, group: gid_t)
  ) throws(ServerError) -> [ListenAddress: [String]] {
    var names: [ListenAddress: [String]] = [:]
    for settings in configuration.listeners {
      for address in settings.addresses {
        guard let wanted = SocketAddress.parse(address.description), !sockets.has(boundTo: wanted) else { continue }
        do throws(LoopError) {
          let name = try sockets.bind(
            wanted, count: workers(configuration), mode: settings.unixMode?.bits, owner: owner)
          names[address, default: []].append(name)
        } catch { throw .address(address.description, error.description) }
      }
    }
    return names
  }

  /// Makes the directories that are missing, for the account. Those that exist keep their owner.
  private static func makeDirectories(
    _ configuration: PawlConfig.Configuration, _ account: Account
  ) throws(ServerError) {
    let paths =
      [configuration.process.stateDirectory] + configuration.caches.map(\.path) + configuration.spools.map(\.path)
    for path in paths where !Files.exists(path) {
      // Those above it that are missing, too: they are made with the mode 0700.
      var missing = [path]
      while let last = missing.last, let slash = last.lastIndex(of: "/"), slash > last.startIndex,
        !Files.exists(String(last[..<slash]))
      { missing.append(String(last[..<slash])) }
      do throws(StoreError) { try Files.makeDirectories(path) } catch { throw .storage(path, "\(error)") }
      for each in missing where chown(each, account.user, account.group) != 0 {
        throw .storage(each, "chown: \(String(cString: strerror(pawl_errno())))")
      }
    }
  }
}
