/// Changes to the rows of a catalogue, in the order in which they are made.
///
/// A list as a whole stands behind this protocol rather than each change: what writes them knows no store's rows, and pays
/// for that once a list.
package protocol RowChanges: Sendable {
  /// How many there are.
  var count: Int { get }
  /// Writes them, within a transaction.
  func apply(to database: Database) throws(StoreError)
  /// Those that still matter, where what is behind them says all there is about `later`, to which is added what these do.
  func compacted(before later: inout Set<RowSubject>) -> Self
}

/// What a change says all there is about: of several changes only the last one matters.
package struct RowSubject: Hashable, Sendable {
  /// The store's own number for a kind of rows.
  package var kind: Int
  package var id: ObjectID

  /// A row of this kind.
  package init(kind: Int, id: ObjectID) { (self.kind, self.id) = (kind, id) }
}

/// Something whose changes are collected when the catalogue commits next.
package protocol ChangeSource: AnyObject, Sendable {
  /// Called on the catalogue's thread only; what it gives is recorded or asked for never again.
  /// - Returns: `nil` where there is nothing to record.
  func takeChanges() -> (any RowChanges)?
}

extension [any RowChanges] {
  /// The same end in fewer changes, where several tries to record them failed.
  func compacted() -> Self {
    var later: Set<RowSubject> = []
    return Array(reversed().map { $0.compacted(before: &later) }.filter { $0.count > 0 }.reversed())
  }
}
