/// A cache that no route uses any more, as long as somebody still has it: a download under way, for instance.
package final class FormerCache: @unchecked Sendable {
  // Safe: set once; weak references are loaded atomically.
  package private(set) weak var store: CacheStore?

  package init(_ store: CacheStore) { self.store = store }
}
