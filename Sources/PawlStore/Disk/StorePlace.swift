import CLinux
import PawlBase
import PawlLoop

/// Where the directory of a store is. It may be moved while pawl has it open, which pawl learns of with its settings.
final class StorePlace: Sendable {
  private let place: Locked<String>

  init(_ path: String) { place = Locked(path) }

  var path: String { place.withLock { $0 } }

  /// It has this path now.
  func move(to path: String) { place.withLock { $0 = path } }
}
