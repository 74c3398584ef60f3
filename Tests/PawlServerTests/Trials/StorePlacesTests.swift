import CLinux
import PawlConfig
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Directories of stores behind links") struct StorePlacesTests {
  private func clash(_ folder: TemporaryFolder, _ cache: String, _ spool: String) throws -> String? {
    var configuration = try TestServer.configuration(url: "http://127.0.0.1:1", in: folder)
    configuration.caches = [CacheSettings(name: "a", path: folder.path + cache)]
    configuration.spools = [SpoolSettings(name: "b", path: folder.path + spool)]
    return StorePlaces.clash(in: configuration).map { "\($0.label) \($0.path): \($0.why)" }
  }

  @Test("the same directory is found, whether it is there or not; others are not the same")
  func same() throws {
    let folder = try TemporaryFolder()
    folder.make("held")
    #expect(symlink("\(folder.path)/held", "\(folder.path)/link") == 0)
    let why = "it is the directory of [cache:a], too: a link leads there"
    #expect(try clash(folder, "/held", "/link") == "spool:b \(folder.path)/link: \(why)")
    #expect(try clash(folder, "/held/x/y", "/link/x/y") == "spool:b \(folder.path)/link/x/y: \(why)")
    #expect(try clash(folder, "/held", "/link/x") == nil)
    #expect(try clash(folder, "/held/x", "/link/y") == nil)
    #expect(try clash(folder, "/x", "/y") == nil)
  }
}
