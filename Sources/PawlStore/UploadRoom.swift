/// Room of the spool for content that is no upload of its own: ordinary requests that are taken in whole first. It comes
/// out of what uploads have, and goes back when the last one lets go of this. Any thread.
package final class UploadRoom: Sendable {
  private let budget: DiskBudget
  private let charge: DiskCharge

  init(_ budget: DiskBudget) {
    self.budget = budget
    charge = DiskCharge(budget, bytes: 0)
    charge.drop()
  }

  /// Takes so many bytes more; `false`: `max-size` or `min-free` leave no room for them.
  package func grow(by bytes: UInt64) -> Bool {
    guard budget.reserve(bytes) else { return false }
    charge.grow(bytes)
    return true
  }
}

extension UploadStore {
  /// Room for one content; none is taken yet.
  package func makeRoom() -> UploadRoom { UploadRoom(core.budget.disk) }
}
