/// A list of changes to the rows of a catalogue, in the order in which they are made.
///
/// The catalogue does not know the row types of the stores, so it calls them through this Swift protocol (dynamic dispatch). A
/// value is a complete list of changes, so that there is one such call for each list, not one for each change.
package protocol RowChanges: Sendable {
  /// The number of changes.
  var count: Int { get }
  /// Writes all changes, within a transaction.
  func apply(to database: Database) throws(StoreError)
  /// Returns the changes that still matter. `later` holds the subjects that later lists replace completely; changes to them are
  /// left out. The subjects that this list replaces are added to `later`.
  func compacted(before later: inout Set<RowSubject>) -> Self
}

/// The row that a change replaces completely, as kind and id. Of several changes with the same subject only the last one matters.
package struct RowSubject: Hashable, Sendable {
  /// A number that stands for a kind of row. The store chooses it.
  package var kind: Int
  package var id: ObjectID

  /// Makes the subject for a row of this kind.
  package init(kind: Int, id: ObjectID) { (self.kind, self.id) = (kind, id) }
}

/// An object whose changes are collected at the next commit of the catalogue.
package protocol ChangeSource: AnyObject, Sendable {
  /// Returns the changes since the last call. Called on the catalogue's thread only. The catalogue keeps the returned changes until
  /// they are recorded.
  /// - Returns: `nil`: there is nothing to record.
  func takeChanges() -> (any RowChanges)?
}

extension [any RowChanges] {
  /// Returns fewer changes with the same result. Used when commits have failed, so that the waiting changes do not pile up.
  func compacted() -> Self {
    var later: Set<RowSubject> = []
    return Array(reversed().map { $0.compacted(before: &later) }.filter { $0.count > 0 }.reversed())
  }
}
