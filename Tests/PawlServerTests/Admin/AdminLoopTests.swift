import CLinux
import PawlBase
import PawlConfig
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The listeners of the admin interface", .timeLimit(.minutes(1))) struct AdminLoopTests {
  private func configuration(_ bench: AdminBench, _ lines: String) throws -> PawlConfig.Configuration {
    try TestServer.configuration(url: "http://127.0.0.1:1", in: bench.folder) { $0.more = "[admin]\n" + lines }
  }

  private func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

  @Test("a reload opens new addresses, closes those that are gone, and leaves the others alone")
  func reload() throws {
    let bench = try AdminBench()
    let (port, path) = (bench.port, bench.folder.path)
    let lines = "listen = 127.0.0.1:0, unix:\(path)/b.sock\ntoken = abcdef0123456789"
    bench.server?.reload(try configuration(bench, lines))
    #expect(bench.port == port)
    #expect(isThere("\(path)/b.sock") && !isThere("\(path)/a.sock"))
    #expect(bench.ask("GET", "/v1/status").status == 401)
    bench.server?.reload(try configuration(bench, "listen = off"))
    #expect(bench.server?.addresses.isEmpty == true && !isThere("\(path)/b.sock"))
  }

  @Test("another mode makes the socket anew")
  func mode() throws {
    let bench = try AdminBench()
    let path = "\(bench.folder.path)/a.sock"
    bench.server?.reload(try configuration(bench, "listen = unix:\(path)\nmode = 0666"))
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o666)
  }

  @Test("an address that another process has is an error at the start, and waited for by a successor")
  func successor() throws {
    let bench = try AdminBench()
    let path = "\(bench.folder.path)/a.sock"
    let configuration = try configuration(bench, "listen = unix:\(path)")
    #expect(throws: ServerError.self) { _ = try AdminServer(configuration, bench.shared, actions: bench) }
    let successor = try AdminServer(configuration, bench.shared, actions: bench, isSuccessor: true)
    defer { successor.stop() }
    #expect(successor.addresses.isEmpty)
    bench.server?.closeListeners()
    while successor.addresses.isEmpty { sched_yield() }
    #expect(successor.addresses.map(\.unixPath) == [path])
  }

  @Test("at a reload, an address that cannot be had is logged")
  func inUse() throws {
    let (first, second) = (try AdminBench(), try AdminBench())
    let path = "\(first.folder.path)/a.sock"
    second.server?.reload(try configuration(second, "listen = unix:\(path)"))
    #expect(second.server?.addresses.isEmpty == true)
    #expect(second.events.last?.hasPrefix("warning admin-not-listening address=unix:\(path) why=") == true)
  }
}
