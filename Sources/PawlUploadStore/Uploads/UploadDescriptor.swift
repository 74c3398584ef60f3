import CLinux
import PawlBase
import PawlDisk
import PawlLoop

/// An open file of an upload, closed in the pool when the last reference is released. The file of an upload that is over is then
/// kept for a later upload. A caller of the kernel with `raw` has to retain this meanwhile: after it the number may belong to
/// another file.
final class UploadDescriptor: Sendable {
  let raw: CInt
  private let core: SpoolCore
  private let charge: DiskCharge
  private let nameOfOver = Locked<String?>(nil)

  init(adopting raw: CInt, _ core: SpoolCore, _ charge: DiskCharge) {
    (self.raw, self.core, self.charge) = (raw, core, charge)
  }

  /// Marks the file as not needed any more: it is removed or reused when this is deallocated.
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
