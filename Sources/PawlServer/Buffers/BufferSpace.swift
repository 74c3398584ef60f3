import PawlDisk
import PawlLoop
import PawlObserve
import PawlUploadStore

/// Where what is on its way waits outside memory: files without a name in a spool's directory, or in `state-dir` where a route has no
/// spool. Any thread.
final class BufferSpace: Sendable {
  let directory: String
  let budget: BufferBudget
  private let pool: WorkerPool
  private let spares = TemporaryFileSpares()

  init(directory: String, budget: BufferBudget, pool: WorkerPool) {
    (self.directory, self.budget, self.pool) = (directory, budget, pool)
  }

  /// For routes without a spool; blocking. `nil` where the directory cannot be used: then nothing waits outside memory there.
  convenience init?(under stateDirectory: String, _ pool: WorkerPool, _ events: EventLog) {
    do throws(StoreError) {
      self.init(directory: stateDirectory, budget: try BufferBudget(directory: stateDirectory), pool: pool)
    } catch {
      events.log(.warning, "no-buffers", ["path": stateDirectory, "why": "\(error)"])
      return nil
    }
  }

  /// An empty file; `nil` where there can be none now.
  func makeFile() -> TemporaryFile? { TemporaryFile(in: directory, pool: pool, spares: spares) }
}
