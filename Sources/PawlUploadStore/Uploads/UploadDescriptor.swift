import CLinux
import PawlBase
import PawlDisk
import PawlLoop

/// An open file of an upload. It is closed in the pool when the last reference is released; a file that the upload does not need
/// any more is then kept for a later upload (``UploadFileSpares``). Code that gives `raw` to the kernel has to retain this object
/// during the call: after its release the number may belong to another file.
final class UploadDescriptor: Sendable {
  let raw: CInt
  private let core: SpoolCore
  private let charge: DiskCharge
  private let nameOfOver = Locked<String?>(nil)

  init(adopting raw: CInt, _ core: SpoolCore, _ charge: DiskCharge) {
    (self.raw, self.core, self.charge) = (raw, core, charge)
  }

  /// Marks the file as not needed any more, so that it is removed or reused when this object is deallocated.
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
