import CLinux
package import PawlConfig

/// The user whose rights to files are judged: the one that pawl will run as.
package struct FileUser: Sendable {
  /// `nil`: the user of this process.
  private let identity: Identity?
  /// The name for messages.
  package let name: String

  private struct Identity: Sendable {
    var user: uid_t
    var group: gid_t
    var groups: [gid_t]
  }

  /// The user of this process.
  package static let own = FileUser(identity: nil, name: "this user")

  /// The user's and the group's number; `nil`: those of this process.
  var account: (user: uid_t, group: gid_t)? { identity.map { ($0.user, $0.group) } }

  package var isOwn: Bool { identity == nil }

  private init(identity: Identity?, name: String) { (self.identity, self.name) = (identity, name) }

  /// Looks a user up, with the supplementary groups that `initgroups(3)` would give it. Blocking.
  /// - Parameter group: the group instead of the user's own.
  /// - Returns: `nil` if there is no such user or group, or if this process may not act for another user.
  package init?(named name: String, group: String?) {
    guard geteuid() == 0, let entry = getpwnam(name)?.pointee else { return nil }
    var main = entry.pw_gid
    if let group {
      guard let found = getgrnam(group)?.pointee else { return nil }
      main = found.gr_gid
    }
    var (groups, count) = ([gid_t](repeating: 0, count: 1024), CInt(1024))
    guard getgrouplist(name, main, &groups, &count) >= 0 else { return nil }
    identity = Identity(user: entry.pw_uid, group: main, groups: Array(groups.prefix(Int(count))))
    self.name = name
  }

  /// The user that a process with these settings becomes; the own one if it stays who it is.
  package init(becoming settings: ProcessSettings) {
    guard let name = settings.user, let user = FileUser(named: name, group: settings.group) else {
      self = .own
      return
    }
    self = user.account?.user == geteuid() && user.account?.group == getegid() ? .own : user
  }

  /// Runs `body` with this user's rights to files, on this thread alone. The kernel judges, so that directories, groups, access
  /// lists and read-only file systems count.
  func act<R>(_ body: () -> R) -> R {
    guard let identity else { return body() }
    var (before, count) = ([gid_t](repeating: 0, count: 1024), CInt(0))
    count = getgroups(CInt(before.count), &before)
    guard count >= 0, pawl_use_files_as(identity.user, identity.group, identity.groups.count, identity.groups) == 0
    else {
      return body()
    }
    defer { _ = pawl_use_files_as(0, getegid(), Int(count), before) }
    return body()
  }
}
