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

extension UploadStore {
  /// Whether the directory of that path is this store's, which has it open.
  package func lives(at path: String) -> Bool { directoryLock.isOf(path) }

  /// The directory was moved: from now on it is there.
  package func move(to path: String) { core.place.move(to: path) }
}

extension CacheStore {
  /// Whether the directory of that path is this store's, which has it open.
  package func lives(at path: String) -> Bool { directoryLock.isOf(path) }

  /// The directory was moved: from now on it is there.
  package func move(to path: String) { core.place.move(to: path) }
}

/// A cache that no route uses any more, as long as somebody still has it: a download under way, for instance.
package final class FormerCache: @unchecked Sendable {
  // Safe: set once; weak references are loaded atomically.
  package private(set) weak var store: CacheStore?

  package init(_ store: CacheStore) { self.store = store }
}
