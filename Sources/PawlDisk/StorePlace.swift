import CLinux
import PawlBase
import PawlLoop

/// Where the directory of a store is. It may be moved while pawl has it open, which pawl learns of with its settings.
package final class StorePlace: Sendable {
  private let place: Locked<String>

  /// A store that is at this path.
  package init(_ path: String) { place = Locked(path) }

  /// Where it is now.
  package var path: String { place.withLock { $0 } }

  /// It has this path now.
  package func move(to path: String) { place.withLock { $0 = path } }
}
