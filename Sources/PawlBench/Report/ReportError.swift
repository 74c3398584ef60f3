/// The reason why a report cannot be read or written.
package enum ReportError: Error, Hashable, Sendable {
  case cannotRead(path: String, reason: String)
  case cannotWrite(path: String, reason: String)
  /// The file is no valid result. Line and column are counted from 1.
  case malformed(path: String, line: Int, column: Int, reason: String)

  /// The message for the operator, with the file and the place in it.
  package var message: String {
    switch self {
    case .cannotRead(let path, let reason): "cannot read \(path): \(reason)"
    case .cannotWrite(let path, let reason): "cannot write \(path): \(reason)"
    case .malformed(let path, let line, let column, let reason): "\(path):\(line):\(column): \(reason)"
    }
  }
}
