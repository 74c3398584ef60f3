/// A cache that no route refers to any more. It is kept only until its last user has ended, for instance a running download.
package final class FormerCache: @unchecked Sendable {
  // Safe: set once; weak references are loaded atomically.
  package private(set) weak var store: CacheStore?

  package init(_ store: CacheStore) { self.store = store }
}
