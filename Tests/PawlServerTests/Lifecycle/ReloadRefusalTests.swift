import PawlConfig
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Refusals of a reload") struct ReloadRefusalTests {
  private func load(_ directory: String, _ more: String = "") throws -> PawlConfig.Configuration {
    let text =
      "[pawl]\nstate-dir = \(directory)\n[upstream:a]\nurl = http://127.0.0.1:9\n[site:default]\nupstream = a\n" + more
    let surroundings = Surroundings(
      environment: { _ in nil }, readFile: { _ in .success(Array(text.utf8)) }, listFiles: { _ in [] }, isRoot: true)
    return try ConfigurationLoader.load(path: "/test/pawl.ini", surroundings: surroundings)
  }

  @Test("another state-dir would strand uploads")
  func stateDirectory() throws {
    #expect(ReloadRefusal.lines(from: try load("/s"), to: try load("/s")) == [])
    #expect(
      ReloadRefusal.lines(from: try load("/s"), to: try load("/t")) == [
        "/test/pawl.ini:2: [pawl] state-dir: it cannot be changed while pawl runs, because the uploads in /s would be lost; "
          + "stop pawl, move the directory, start pawl again"
      ])
  }

  @Test("errors are told with the line of the value that they are about")
  func places() throws {
    let sections = """
      [listen:l]
      address = 127.0.0.1:1
      tls = t
      [tls:t]
      certificate = /c
      key = /k
      [cache:c]
      path = /cache
      [spool:s]
      path = /spool
      """
    let new = try load("/s", sections)
    let file = "/test/pawl.ini"
    for (error, line) in [
      (ServerError.address("127.0.0.1:1", "w"), "\(file):8: [listen:l] address: cannot listen on 127.0.0.1:1: w"),
      (.certificates("/k: w", file: "/k"), "\(file):12: [tls:t] key: cannot speak TLS: /k: w"),
      (.storage("/cache", "w"), "\(file):14: [cache:c] path: cannot use /cache: w"),
      (.storage("/spool", "w"), "\(file):16: [spool:s] path: cannot use /spool: w"),
      (.storage("/other", "w"), "cannot use /other: w"), (.system("w"), "w"),
    ] {
      #expect(ReloadRefusal.line(for: error, in: new) == line)
    }
  }
}
