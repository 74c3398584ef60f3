package import CLinux

/// A user and a group of the system, which pawl becomes after it has bound its addresses.
package struct Account: Hashable, Sendable {
  /// Why pawl cannot become this account.
  package enum Failure: Error, Hashable, CustomStringConvertible {
    case noUser(String)
    case noGroup(String)
    case notRoot(String)
    case system(call: String, code: CInt)
    /// The privileges could be taken back.
    case keptPrivileges

    package var description: String {
      switch self {
      case .noUser(let name): "there is no user \"\(name)\" on this system"
      case .noGroup(let name): "there is no group \"\(name)\" on this system"
      case .notRoot(let name):
        "only root can become \(name): start pawl as root, or as \(name), or leave the key out"
      case .system(let call, let code): "\(call): \(String(cString: strerror(code)))"
      case .keptPrivileges: "the privileges of root could be taken back"
      }
    }
  }

  package let name: String
  package let user: uid_t
  package let group: gid_t

  /// Looks the names up. Blocking.
  /// - Parameters:
  ///   - user: the name of the user; `nil`: the one that the process has.
  ///   - group: the name of the group; `nil`: the primary group of the user.
  package init(user: String?, group: String?) throws(Failure) {
    let id = geteuid()
    if let user {
      guard let entry = getpwnam(user) else { throw .noUser(user) }
      (name, self.user) = (user, entry.pointee.pw_uid)
      var primary = entry.pointee.pw_gid
      if let group { primary = try Self.find(group: group) }
      self.group = primary
    } else {
      let entry = getpwuid(id)
      name = entry.map { String(cString: $0.pointee.pw_name) } ?? "\(id)"
      self.user = id
      if let group { self.group = try Self.find(group: group) } else { self.group = getegid() }
    }
  }

  private static func find(group: String) throws(Failure) -> gid_t {
    guard let entry = getgrnam(group) else { throw .noGroup(group) }
    return entry.pointee.gr_gid
  }

  /// Whether the process is this account already.
  package var isCurrent: Bool { geteuid() == user && getuid() == user && getegid() == group && getgid() == group }

  /// Becomes the account, in all threads (glibc), with the further groups of the user; and makes sure that this cannot be undone.
  /// Does nothing if the process is this account already.
  package func become() throws(Failure) {
    if isCurrent { return }
    guard geteuid() == 0 else { throw .notRoot(name) }
    guard initgroups(name, group) == 0 else { throw .system(call: "initgroups", code: pawl_errno()) }
    guard setresgid(group, group, group) == 0 else { throw .system(call: "setresgid", code: pawl_errno()) }
    guard setresuid(user, user, user) == 0 else { throw .system(call: "setresuid", code: pawl_errno()) }
    guard isCurrent, user == 0 || setuid(0) != 0, group == 0 || user == 0 || setgid(0) != 0 else {
      throw .keptPrivileges
    }
    guard pawl_give_up_privileges() == 0 else { throw .system(call: "prctl", code: pawl_errno()) }
  }
}
