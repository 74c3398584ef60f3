import PawlConfig
import PawlUploadStore

/// An open spool: its settings, its resumable uploads (`store`), and the files without a name in its directory: ordinary uploads
/// that are spooled (`plain`), and content that waits outside memory (`buffers`).
struct OpenSpool: Sendable {
  let settings: SpoolSettings
  let store: UploadStore
  let plain: PlainSpool
  let buffers: BufferSpace
}
