import PawlConfig
import PawlObserve
import PawlServer
import PawlTestKit

@testable import PawlDemo

/// A whole pawl on 127.0.0.1, in this process, as the demonstration has it.
final class DemoServer {
  private let folder: TemporaryFolder
  private let server: Server

  /// - Parameter site: lines for its site.
  init(before origin: LegacyOrigin, site: String = "") throws {
    folder = try TemporaryFolder()
    let text = """
      [pawl]
      state-dir = \(folder.path)
      workers = 1
      [listen:default]
      address = 127.0.0.1:0
      [cache:default]
      path = \(folder.path)/cache
      max-size = 512M
      [upstream:app]
      url = http://127.0.0.1:\(origin.port)
      [site:default]
      upstream = app
      \(site)
      """
    let surroundings = Surroundings(
      environment: { _ in nil }, readFile: { _ in .success(Array(text.utf8)) }, listFiles: { _ in [] }, isRoot: false)
    server = try Server(
      ConfigurationLoader.load(path: "/t.ini", surroundings: surroundings), events: EventLog { _ in })
  }

  var address: String { server.addresses.first.map { "\($0)" } ?? "-" }

  deinit {
    server.drain {}
    server.cutRemaining()
    server.stop()
  }
}
