import CLinux
package import PawlDisk
import PawlHTTP
import PawlLoop

/// The list of spools that the settings do not name any more, but that were open when the settings changed. It is a file in the
/// state directory, so that the uploads in these spools are also found after a restart.
package enum FormerSpools {
  package struct Entry: Hashable, Sendable {
    package var path: String
    /// How long uploads stay in the spool, by its last settings.
    package var expireAfter: Duration
    package var maxAge: Duration

    package init(path: String, expireAfter: Duration, maxAge: Duration) {
      (self.path, self.expireAfter, self.maxAge) = (path, expireAfter, maxAge)
    }
  }

  private static func file(in directory: String) -> String { directory + "/former-spools" }

  /// Reads the list. Blocking. Lines that cannot be parsed are skipped.
  package static func read(in stateDirectory: String) throws(StoreError) -> [Entry] {
    let path = file(in: stateDirectory)
    guard Files.exists(path) else { return [] }
    let file = OwnedDescriptor(adopting: try Files.open(path, O_RDONLY))
    var text = [UInt8](repeating: 0, count: Int(clamping: min(try Files.size(file.raw, path), 1 << 20)))
    let count = pread(file.raw, &text, text.count, 0)
    return text.prefix(max(0, count)).split(separator: 0x0a).compactMap(entry)
  }

  /// Parses a line: both times in seconds, and the path.
  private static func entry(_ line: Bytes) -> Entry? {
    let parts = line.split(separator: 0x20, maxSplits: 2)
    guard parts.count == 3, let expireAfter = parts[0].strictDecimal, let maxAge = parts[1].strictDecimal,
      parts[2].first == 0x2f
    else { return nil }
    return Entry(
      path: String(decoding: parts[2], as: UTF8.self), expireAfter: .seconds(Int64(clamping: expireAfter)),
      maxAge: .seconds(Int64(clamping: maxAge)))
  }

  /// Writes the list. Blocking; the list is synced when this returns.
  package static func write(_ entries: [Entry], in stateDirectory: String) throws(StoreError) {
    let path = file(in: stateDirectory)
    guard try read(in: stateDirectory) != entries else { return }
    if entries.isEmpty { return try Files.unlink(path) }
    try Files.makeDirectories(stateDirectory)
    let lines = entries.filter { !$0.path.utf8.contains(0x0a) }.map { entry in
      "\(entry.expireAfter.components.seconds) \(entry.maxAge.components.seconds) \(entry.path)\n"
    }
    let text = Array(lines.joined().utf8)
    let file = OwnedDescriptor(adopting: try Files.open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC))
    try Files.writeAll(file.raw, text[...], at: 0)
    guard fdatasync(file.raw) == 0 else { throw Files.failure("fdatasync", path) }
    guard rename(path + ".new", path) == 0 else { throw Files.failure("rename", path) }
    try Files.syncDirectory(stateDirectory)
  }
}
