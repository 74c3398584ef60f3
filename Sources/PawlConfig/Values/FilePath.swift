/// Functions on the text of paths. They do not access the disk.
enum FilePath {
  /// The directory of a file; empty for the working directory.
  static func directory(of file: String) -> String {
    guard let slash = file.lastIndex(of: "/") else { return "" }
    return slash == file.startIndex ? "/" : String(file[..<slash])
  }

  /// Returns `path` if it is absolute, or else `path` relative to `directory`. `.` and inner `..` are removed.
  static func resolve(_ path: String, from directory: String) -> String {
    if path.hasPrefix("/") || directory.isEmpty { return normalize(path) }
    return normalize(directory + "/" + path)
  }

  static func normalize(_ path: String) -> String {
    var parts = [Substring]()
    for part in path.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != ".." {
        parts.removeLast()
      } else if part != ".." || !path.hasPrefix("/") {
        parts.append(part)
      }
    }
    let joined = parts.joined(separator: "/")
    if path.hasPrefix("/") { return "/" + joined }
    return joined.isEmpty ? "." : joined
  }
}
