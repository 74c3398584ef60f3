import PawlConfig
import Testing

@testable import PawlServer

@Suite("Keys that need a restart") struct RestartKeysTests {
  @Test("are named with the line of the new value, or that of the section if the key is gone")
  func named() throws {
    func load(_ keys: String) throws -> PawlConfig.Configuration {
      let text =
        "[pawl]\nstate-dir = /s\n\(keys)\n[upstream:a]\nurl = http://127.0.0.1:9\n[site:default]\nupstream = a\n"
      let surroundings = Surroundings(
        environment: { _ in nil }, readFile: { _ in .success(Array(text.utf8)) }, listFiles: { _ in [] }, isRoot: true)
      return try ConfigurationLoader.load(path: "/test/pawl.ini", surroundings: surroundings)
    }
    func line(_ number: Int, _ key: String) -> String {
      "/test/pawl.ini:\(number): [pawl] \(key): the change takes effect after a restart"
    }
    var keys = RestartKeys(try load("workers = 2"))
    #expect(keys.changed(to: try load("workers = 2")) == [])
    #expect(keys.changed(to: try load("\nworkers = 3")) == [line(4, "workers")])
    #expect(keys.changed(to: try load("")) == [line(1, "workers")])
    #expect(keys.changed(to: try load("workers = 2\ntrusted-proxies = 10.0.0.1")) == [])
  }

  @Test("of a section that a reload has added are named at the next reload; one that comes back is new")
  func added() throws {
    func load(_ more: String) throws -> PawlConfig.Configuration {
      let text =
        "[pawl]\nstate-dir = /s\n[upstream:a]\nurl = http://127.0.0.1:9\n[site:default]\nupstream = a\n\(more)"
      let surroundings = Surroundings(
        environment: { _ in nil }, readFile: { _ in .success(Array(text.utf8)) }, listFiles: { _ in [] }, isRoot: true)
      return try ConfigurationLoader.load(path: "/test/pawl.ini", surroundings: surroundings)
    }
    func listen(_ mode: String) -> String { "[listen:x]\naddress = unix:/s/x\nunix-mode = \(mode)\n" }
    var keys = RestartKeys(try load(""))
    #expect(keys.changed(to: try load(listen("0600"))) == [])
    let line = "/test/pawl.ini:9: [listen:x] unix-mode: the change takes effect after a restart"
    for _ in 0..<2 { #expect(keys.changed(to: try load(listen("0660"))) == [line]) }
    #expect(keys.changed(to: try load(listen("0600"))) == [])
    #expect(keys.changed(to: try load("")) == [])
    #expect(keys.changed(to: try load(listen("0660"))) == [])
  }
}
