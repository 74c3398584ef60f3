import Glibc

/// A file of the repository: its path from the top, and its lines.
struct SourceFile: CustomStringConvertible {
  var path: String
  var lines: [String]
  /// The lines without what stands in strings and comments.
  var bare: BareCode

  init(path: String, lines: [String]) { (self.path, self.lines, bare) = (path, lines, BareCode(lines)) }

  var name: String { String(path.split(separator: "/").last ?? "") }
  var stem: String { name.hasSuffix(".swift") ? String(name.dropLast(".swift".count)) : name }
  /// The folder below `Sources` or `Tests`.
  var target: String {
    let parts = path.split(separator: "/")
    return parts.count > 1 ? String(parts[1]) : ""
  }
  var description: String { path }
}

/// The repository these tests were built from.
enum SourceTree {
  static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  static let sources = swiftFiles(below: "Sources")
  /// What is built with the package; programs that scripts of the end-to-end tests run by themselves are not.
  static let tests = swiftFiles(below: "Tests").filter { $0.target.hasPrefix("Pawl") }

  /// Names in a folder, sorted; a folder's name ends with `/`.
  static func names(in folder: String) -> [String] {
    guard let directory = opendir("\(root)/\(folder)") else { return [] }
    defer { closedir(directory) }
    var names = [String]()
    while let entry = readdir(directory) {
      let isFolder = entry.pointee.d_type == UInt8(DT_DIR)
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(isFolder ? name + "/" : name) }
    }
    return names.sorted()
  }

  static func lines(of path: String) -> [String] {
    let descriptor = open("\(root)/\(path)", O_RDONLY)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes = [UInt8]()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    if bytes.last == 0x0a { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).map(
      String.init)
  }

  private static func swiftFiles(below folder: String) -> [SourceFile] {
    names(in: folder).flatMap { name -> [SourceFile] in
      if name.hasSuffix("/") { return swiftFiles(below: "\(folder)/\(name.dropLast())") }
      guard name.hasSuffix(".swift") else { return [] }
      return [SourceFile(path: "\(folder)/\(name)", lines: lines(of: "\(folder)/\(name)"))]
    }
  }
}
