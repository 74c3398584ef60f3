import CLinux
import PawlBase
import PawlDisk
import PawlLoop

/// An open file of an upload, closed in the pool when the last one lets go of it; the file of an upload that is over then
/// becomes another's. Who calls the kernel with `raw` keeps this for as long: the number may be another file's after it.
final class UploadDescriptor: Sendable {
  let raw: CInt
  private let core: SpoolCore
  private let charge: DiskCharge
  private let nameOfOver = Locked<String?>(nil)

  init(adopting raw: CInt, _ core: SpoolCore, _ charge: DiskCharge) {
    (self.raw, self.core, self.charge) = (raw, core, charge)
  }

  /// The upload needs its file no more: it goes with this.
  func retire(_ id: UploadID) {
    let path = core.path(of: id)
    nameOfOver.withLock { $0 = path }
  }

  deinit {
    let (raw, charge, spares) = (raw, charge, core.spares)
    let path = nameOfOver.withLock { $0 }
    core.perform {
      if let path { spares.give(raw, path) } else { close(raw) }
      withExtendedLifetime(charge) {}
    }
  }
}
