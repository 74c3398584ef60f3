import PawlDisk
import PawlLoop
import PawlObserve
import PawlUploadStore

/// The space on disk for content that waits outside memory: files without a name, in a spool's directory, or in `state-dir` for
/// routes without a spool. Any thread.
final class BufferSpace: Sendable {
  let directory: String
  let budget: BufferBudget
  private let pool: WorkerPool
  private let spares = TemporaryFileSpares()

  init(directory: String, budget: BufferBudget, pool: WorkerPool) {
    (self.directory, self.budget, self.pool) = (directory, budget, pool)
  }

  /// Makes the space for routes without a spool; blocking. Returns `nil` if the directory cannot be used; on these routes content
  /// then waits in memory only.
  convenience init?(under stateDirectory: String, _ pool: WorkerPool, _ events: EventLog) {
    do throws(StoreError) {
      self.init(directory: stateDirectory, budget: try BufferBudget(directory: stateDirectory), pool: pool)
    } catch {
      events.log(.warning, "no-buffers", ["path": stateDirectory, "why": "\(error)"])
      return nil
    }
  }

  /// Makes an empty file; returns `nil` if that fails now.
  func makeFile() -> TemporaryFile? { TemporaryFile(in: directory, pool: pool, spares: spares) }
}
