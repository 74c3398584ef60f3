import CLinux
import PawlBase
import PawlLoop

/// The path of the directory of a store. The directory may be moved while pawl has it open; the new settings then contain the new
/// path.
package final class StorePlace: Sendable {
  private let place: Locked<String>

  /// Makes an object with this path.
  package init(_ path: String) { place = Locked(path) }

  /// The present path.
  package var path: String { place.withLock { $0 } }

  /// Sets the new path.
  package func move(to path: String) { place.withLock { $0 = path } }
}
