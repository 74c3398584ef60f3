/// Why the readers of a body cannot have the rest of it.
package enum BodyFailure: Error, Hashable, Sendable {
  /// The origin broke off and could not be resumed; the text says how.
  case origin(String)
  /// The origin's content is another one now.
  case changed(String)
  /// The bytes wanted passed by in memory and were never on disk.
  case notKept
  /// The file is missing, corrupt or cannot be opened.
  case disk(String)
  /// The object was taken out of the cache.
  case removed
}
