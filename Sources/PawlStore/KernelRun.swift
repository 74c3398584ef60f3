import CLinux
import PawlLoop

/// Which run of the kernel, and which mount of its file system, a directory was seen in. Where both are the same, whatever was written
/// to its files is there, though it was never synced: only the process has ended.
struct KernelRun: Equatable {
  private let boot: ObjectID
  /// The kernel's number for a mount, which it never gives twice.
  private let mount: UInt64

  /// `nil` where the kernel does not say it beyond doubt.
  init?(of path: String) throws(StoreError) {
    var status = CLinux.statx()
    guard statx(AT_FDCWD, path, 0, Self.uniqueMount, &status) == 0, status.stx_mask & Self.uniqueMount != 0 else {
      return nil
    }
    mount = withUnsafeBytes(of: &status) { $0.loadUnaligned(fromByteOffset: Self.mountOffset, as: UInt64.self) }
    boot = try UploadRecovery.runningBoot()
  }

  /// `STATX_MNT_ID_UNIQUE`, since Linux 6.8, and where `stx_mnt_id` stands: the C library's headers may be older.
  private static let uniqueMount: UInt32 = 0x4000
  private static let mountOffset = 0x90

  /// Whether the catalogue was last opened in the same one; notes this one.
  static func isUnchanged(_ run: KernelRun?, in database: Database) throws(StoreError) -> Bool {
    let names = ["boot_high", "boot_low", "mount"]
    let values = run.map { [$0.boot.high, $0.boot.low, $0.mount].map { Int64(bitPattern: $0) } } ?? [0, 0, 0]
    var isSame = run != nil
    for (name, value) in zip(names, values) {
      if try CatalogueSchema.meta(database, name) != value { isSame = false }
      try CatalogueSchema.setMeta(database, name, value)
    }
    return isSame
  }
}
