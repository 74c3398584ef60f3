import CLinux
import PawlConfig
import Testing

@Suite("The examples in Config/") struct ExampleFilesTests {
  static let folder: String = {
    let parts = #filePath.split(separator: "/")
    return "/" + parts.dropLast(3).joined(separator: "/") + "/Config"
  }()

  static let names = [
    "minimal.ini", "fileserver.ini", "appserver.ini", "sessions.ini", "registry.ini", "webdav.ini", "uploads.ini",
    "tls.ini",
  ]

  @Test("are valid, without a warning", arguments: names)
  func valid(_ name: String) throws {
    let world = Surroundings(
      environment: { _ in nil }, readFile: Self.contents, listFiles: { _ in [] }, isRoot: true)
    let configuration = try ConfigurationLoader.load(path: "\(Self.folder)/\(name)", surroundings: world)
    #expect(configuration.warnings == [])
  }

  @Test("are all tested")
  func complete() throws {
    var found = [String]()
    let directory = try #require(opendir(Self.folder))
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name.hasSuffix(".ini") { found.append(name) }
    }
    #expect(found.sorted() == Self.names.sorted())
  }

  @Test("the smallest is four lines that name an upstream and a site")
  func smallest() throws {
    let text = String(decoding: try Self.contents("\(Self.folder)/minimal.ini").get(), as: UTF8.self)
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count == 5)
  }

  static func contents(_ path: String) -> Result<[UInt8], FileProblem> {
    let descriptor = pawl_open(path, O_RDONLY, 0)
    guard descriptor >= 0 else { return .failure(FileProblem(reason: "cannot be opened")) }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(descriptor, &buffer, buffer.count)
    return count < 0 ? .failure(FileProblem(reason: "cannot be read")) : .success(Array(buffer[..<count]))
  }
}
