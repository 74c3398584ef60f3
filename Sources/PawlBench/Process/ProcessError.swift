/// The reason why a process cannot be measured.
package enum ProcessError: Error, Hashable, Sendable {
  case noSuchProcess(pid: Int32)
  /// A file in `/proc` does not have the kernel's format.
  case unreadable(path: String, reason: String)

  /// The message for the operator, with the path or the number.
  package var message: String {
    switch self {
    case .noSuchProcess(let pid): "there is no process \(pid)"
    case .unreadable(let path, let reason): "\(path): \(reason)"
    }
  }
}
