import PawlConfig
import PawlUploadStore

/// An open spool: its settings, its uploads, and the other files in its directory.
struct OpenSpool: Sendable {
  let settings: SpoolSettings
  let store: UploadStore
  let plain: PlainSpool
  let buffers: BufferSpace
}
