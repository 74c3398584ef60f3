/// A list of changes to the rows of a catalogue, in the order in which they are made.
///
/// The protocol is for a whole list, not for a single change: the catalogue does not know the rows of any store, and the cost of
/// that is paid once for each list.
package protocol RowChanges: Sendable {
  /// The number of changes.
  var count: Int { get }
  /// Writes all changes, within a transaction.
  func apply(to database: Database) throws(StoreError)
  /// Returns the changes that still matter. Later lists have replaced all that is recorded of the subjects in `later`; the subjects
  /// that this list replaces are added to it.
  func compacted(before later: inout Set<RowSubject>) -> Self
}

/// What a change replaces completely: of several changes to the same subject only the last one matters.
package struct RowSubject: Hashable, Sendable {
  /// The number of a kind of rows, which the store chooses.
  package var kind: Int
  package var id: ObjectID

  /// Makes the subject for a row of this kind.
  package init(kind: Int, id: ObjectID) { (self.kind, self.id) = (kind, id) }
}

/// An object whose changes are collected at the next commit of the catalogue.
package protocol ChangeSource: AnyObject, Sendable {
  /// Returns the changes since the last call. On the catalogue's thread only. Changes once returned are kept by the catalogue until
  /// they are recorded.
  /// - Returns: `nil`: there is nothing to record.
  func takeChanges() -> (any RowChanges)?
}

extension [any RowChanges] {
  /// Returns fewer changes with the same result, for changes that could not be recorded several times.
  func compacted() -> Self {
    var later: Set<RowSubject> = []
    return Array(reversed().map { $0.compacted(before: &later) }.filter { $0.count > 0 }.reversed())
  }
}
