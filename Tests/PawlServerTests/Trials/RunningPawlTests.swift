import CLinux
import PawlConfig
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Whether a running process is the pawl of a configuration") struct RunningPawlTests {
  @Test(
    "its file is found in its arguments",
    arguments: [
      (["pawl", "serve", "--config", "a.ini"], "a.ini"), (["pawl", "serve", "-c", "a.ini"], "a.ini"),
      (["pawl", "serve", "--config=a.ini"], "a.ini"), (["pawl", "serve", "-c"], nil),
      (["pawl", "serve", "--to", "x"], nil),
    ] as [([String], String?)])
  func file(_ arguments: [String], _ expected: String?) { #expect(RunningPawl.configFile(in: arguments) == expected) }

  @Test("this process has another file and listens elsewhere, so it is a stranger; one that listens there is none")
  func strangers() throws {
    let folder = try TemporaryFolder()
    let origin = ScriptedOrigin(.tcp, [.readToEnd])
    var configuration = try TestServer.configuration(url: "http://127.0.0.1:1", in: folder)
    let name = ProcessFiles.text(of: "/proc/self/comm").prefix { $0 != "\n" }
    #expect(RunningPawl.stranger(Int(getpid()), configuration) == "process \(getpid()) (\(name))")
    configuration.listeners[0].addresses = [.internet(host: "127.0.0.1", port: origin.port)]
    #expect(RunningPawl.stranger(Int(getpid()), configuration) == nil)
    // Nothing is known of a process that has ended.
    #expect(RunningPawl.stranger(Int(Int32.max), configuration) == nil)
  }
}
