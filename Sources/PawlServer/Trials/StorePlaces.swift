import CLinux
import PawlConfig

/// The directories of caches and spools as they are on the disk, behind links. Two stores in one directory would lock each other out.
enum StorePlaces {
  /// Returns the first store whose directory is that of another one by way of a link; `nil`: there is none. Blocking.
  static func clash(in configuration: Configuration) -> (label: String, path: String, why: String)? {
    let all =
      configuration.caches.map { (label: "cache:\($0.name)", path: $0.path) }
      + configuration.spools.map { (label: "spool:\($0.name)", path: $0.path) }
    var places: [String: String] = [:]
    for (label, path) in all {
      guard let place = place(of: path) else { continue }
      if let other = places[place] {
        return (label, path, "it is the directory of [\(other)], too: a link leads there")
      }
      places[place] = label
    }
    return nil
  }

  /// Returns a text that is the same for the same directory, whether it is there or not.
  private static func place(of path: String) -> String? {
    guard let nearest = StoreRoom.nearest(path) else { return nil }
    var status = stat()
    guard stat(nearest, &status) == 0 else { return nil }
    let missing = path.dropFirst(nearest.count).split(separator: "/").joined(separator: "/")
    return "\(status.st_dev):\(status.st_ino)/\(missing)"
  }
}
