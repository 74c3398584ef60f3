/// Why a process cannot be measured.
package enum ProcessError: Error, Hashable, Sendable {
  case noSuchProcess(pid: Int32)
  /// What `/proc` says of it is not what the kernel writes.
  case unreadable(path: String, reason: String)

  /// For the operator, with the path or the number.
  package var message: String {
    switch self {
    case .noSuchProcess(let pid): "there is no process \(pid)"
    case .unreadable(let path, let reason): "\(path): \(reason)"
    }
  }
}
