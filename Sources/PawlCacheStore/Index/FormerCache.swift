/// A cache that no route uses any more, and that is kept only while it is in use, for instance by a running download.
package final class FormerCache: @unchecked Sendable {
  // Safe: set once; weak references are loaded atomically.
  package private(set) weak var store: CacheStore?

  package init(_ store: CacheStore) { self.store = store }
}
