import CLinux
import PawlCacheStore
package import PawlConfig
import PawlDisk
import PawlUploadStore

/// Says what will not work in the directory of a store: for want of space, or because of the kind of its file system. Used by
/// `pawl check` and at the start. Blocking.
package enum StoreRoom {
  /// Returns why a cache would keep nothing; `nil`: it has room.
  package static func lacks(_ cache: CacheSettings) -> String? {
    guard let (path, space) = space(of: cache.path) else { return nil }
    return shortage(cache, free: space.free).map { "the file system of \(path) has \($0)" }
  }

  /// Returns why a spool would take no upload; `nil`: it has room.
  package static func lacks(_ spool: SpoolSettings) -> String? {
    guard let (path, space) = space(of: spool.path) else { return nil }
    return shortage(spool, free: space.free, total: space.total).map { "the file system of \(path) has \($0)" }
  }

  /// Fewer bytes than this may not be enough to open a catalogue, which writes when it is opened.
  static let leastToOpen: UInt64 = 4 << 20

  /// Returns why a process could not open the stores of a configuration; `nil`: there is room.
  static func cannotOpen(_ configuration: Configuration) -> String? {
    for path in configuration.caches.map(\.path) + configuration.spools.map(\.path) {
      if let (path, space) = space(of: path), let lacks = lacksToOpen(space.free) {
        return "the file system of \(path) has \(lacks)"
      }
    }
    return nil
  }

  static func lacksToOpen(_ free: UInt64) -> String? {
    free < leastToOpen
      ? "\(shown(free)) free, less than the \(shown(leastToOpen)) that opening a cache or spool needs" : nil
  }

  static func shortage(_ cache: CacheSettings, free: UInt64) -> String? {
    let least = CacheStore.leastFree
    if cache.minFree < least, free < least {
      return "\(shown(free)) free, less than the \(shown(least)) that a cache leaves free: nothing is kept"
    }
    guard free < cache.minFree else { return nil }
    return "\(shown(free)) free, less than min-free (\(shown(cache.minFree))): nothing is kept"
  }

  static func shortage(_ spool: SpoolSettings, free: UInt64, total: UInt64) -> String? {
    let kept = min(UploadStoreSettings.reserve, total / 20)
    guard free < kept else { return nil }
    return "\(shown(free)) free, less than the \(shown(kept)) that a spool leaves free: uploads are refused"
  }

  /// Returns why the uploads of a spool would not survive a restart of the machine; `nil`: they would.
  package static func forgets(_ spool: SpoolSettings) -> String? {
    guard let path = nearest(spool.path), isInMemory(path) else { return nil }
    return "\(path) is in memory (tmpfs): uploads do not survive a restart of the machine"
  }

  static func isInMemory(_ path: String) -> Bool {
    let type = pawl_file_system_type(path)
    return type == tmpfs || type == ramfs
  }

  /// Whether a path is in a file system in which only the kernel makes directories (`PROC_SUPER_MAGIC`, `SYSFS_MAGIC`).
  static func isOfKernel(_ path: String) -> Bool { [0x9fa0, 0x6265_6572].contains(pawl_file_system_type(path)) }

  /// `TMPFS_MAGIC` and `RAMFS_MAGIC` of statfs(2).
  private static let tmpfs = 0x0102_1994
  private static let ramfs = 0x8584_58f6

  private static func space(of path: String) -> (path: String, space: (free: UInt64, total: UInt64))? {
    guard let path = nearest(path) else { return nil }
    do throws(StoreError) { return (path, try Files.space(of: path)) } catch { return nil }
  }

  static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR)
  }

  /// Returns the path, or the nearest directory above it that exists; `nil`: the way to it cannot be read.
  static func nearest(_ path: String) -> String? {
    var path = path
    while !Files.exists(path) {
      guard pawl_errno() == ENOENT else { return nil }
      guard let slash = path.lastIndex(of: "/") else { return "." }
      path = slash == path.startIndex ? "/" : String(path[..<slash])
    }
    return path
  }

  /// Returns a size as people say it: the largest unit that leaves at least ten, such as `300M`.
  static func shown(_ bytes: UInt64) -> String {
    for (unit, shift) in [("T", UInt64(40)), ("G", 30), ("M", 20), ("K", 10)] where bytes >> shift > 0 {
      if bytes >> shift >= 10 || bytes & (1 << shift - 1) == 0 { return "\(bytes >> shift)\(unit)" }
      return "\(bytes >> shift).\(((bytes & (1 << shift - 1)) * 10) >> shift)\(unit)"
    }
    return "\(bytes)"
  }
}
