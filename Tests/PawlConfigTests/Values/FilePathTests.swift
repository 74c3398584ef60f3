import Testing

@testable import PawlConfig

@Suite("Paths") struct FilePathTests {
  @Test(
    "count from the file they stand in",
    arguments: [
      ("/x", "/etc", "/x"), ("x", "/etc/pawl", "/etc/pawl/x"), ("../x", "/etc/pawl", "/etc/x"), ("./x//y/.", "", "x/y"),
      ("../../../x", "/a", "/x"), ("../x", "", "../x"), ("../x", "a", "x"), (".", "", "."), ("x", "/", "/x"),
    ])
  func resolves(_ path: String, _ directory: String, _ expected: String) {
    #expect(FilePath.resolve(path, from: directory) == expected)
  }

  @Test(
    "name their directory", arguments: [("/etc/pawl.ini", "/etc"), ("/pawl.ini", "/"), ("pawl.ini", ""), ("a/b", "a")])
  func directory(_ file: String, _ expected: String) { #expect(FilePath.directory(of: file) == expected) }
}
