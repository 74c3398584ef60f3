import CLinux
import PawlLoop

/// Identifies the run of the kernel, the mount of the file system, and the files of a cache. If all of them are the same as at
/// pawl's last start, every byte that was written to the files is still there, even if it was never synced, because only the
/// process has ended since. A cache that was copied, or restored from a copy, has different files.
package struct KernelRun: Equatable {
  private let boot: ObjectID
  /// The unique number of the mount, which the kernel never uses again.
  private let mount: UInt64
  private let directory: Birth
  private let catalogue: Birth

  /// Identifies a file. The inode number of a removed file may be used again, but not with the same time of creation.
  private struct Birth: Equatable {
    let inode: UInt64
    let nanoseconds: UInt64
  }

  /// Reads the identity. `nil`: the kernel does not report all parts of it.
  /// - Parameter file: the catalogue, which lies in the directory.
  package init?(of path: String, file: String) throws(StoreError) {
    guard let found = Self.look(path), let other = Self.look(file) else { return nil }
    (mount, directory, catalogue) = (found.mount, found.birth, other.birth)
    boot = try Self.runningBoot()
  }

  /// Returns the identifier that the kernel has made for its present run.
  package static func runningBoot() throws(StoreError) -> ObjectID {
    let path = "/proc/sys/kernel/random/boot_id"
    let file = OwnedDescriptor(adopting: try Files.open(path, O_RDONLY))
    var text = [UInt8](repeating: 0, count: 64)
    let count = read(file.raw, &text, text.count)
    let digits = text.prefix(max(0, count)).filter { $0 != 0x2d && $0 > 0x20 }
    // If the kernel reports no identifier, each start of pawl counts as a new run of the kernel, in which only synced bytes count.
    return ObjectID(hex: digits) ?? ObjectID.make()
  }

  private static func look(_ path: String) -> (mount: UInt64, birth: Birth)? {
    let wanted = uniqueMount | UInt32(STATX_INO) | UInt32(STATX_BTIME)
    var status = CLinux.statx()
    guard statx(AT_FDCWD, path, 0, wanted, &status) == 0, status.stx_mask & wanted == wanted else { return nil }
    let mount = withUnsafeBytes(of: &status) { $0.loadUnaligned(fromByteOffset: mountOffset, as: UInt64.self) }
    let born = UInt64(bitPattern: status.stx_btime.tv_sec) &* 1_000_000_000 &+ UInt64(status.stx_btime.tv_nsec)
    return (mount, Birth(inode: status.stx_ino, nanoseconds: born))
  }

  /// `STATX_MNT_ID_UNIQUE` (since Linux 6.8), and the offset of `stx_mnt_id`. They are defined here because the headers of the C
  /// library may be older.
  private static let uniqueMount: UInt32 = 0x4000
  private static let mountOffset = 0x90

  /// Returns whether the catalogue was last opened in the same run of the kernel, with the same files. Also records the present
  /// run.
  package static func isUnchanged(_ run: KernelRun?, in database: Database) throws(StoreError) -> Bool {
    let facts: KeyValuePairs = [
      "boot_high": run?.boot.high, "boot_low": run?.boot.low, "mount": run?.mount,
      "directory": run?.directory.inode, "directory_born": run?.directory.nanoseconds,
      "file": run?.catalogue.inode, "file_born": run?.catalogue.nanoseconds,
    ]
    var isSame = run != nil
    for (name, fact) in facts {
      let value = Int64(bitPattern: fact ?? 0)
      if try CatalogueSchema.meta(database, name) != value { isSame = false }
      try CatalogueSchema.setMeta(database, name, value)
    }
    return isSame
  }
}
