import PawlConfig
import PawlUploadStore

/// A spool that is open: its settings, its uploads, and what else has room in its directory.
struct OpenSpool: Sendable {
  let settings: SpoolSettings
  let store: UploadStore
  let plain: PlainSpool
  let buffers: BufferSpace
}
