import PawlConfig
import Testing

@testable import PawlServer

@Suite("Upgrades that are refused") struct UpgradeRefusalTests {
  private func load(_ state: String, _ spool: String) throws -> PawlConfig.Configuration {
    let text = """
      [pawl]
      state-dir = \(state)
      [spool:default]
      path = \(spool)
      [upstream:a]
      url = http://127.0.0.1:9
      [site:default]
      upstream = a
      """
    let surroundings = Surroundings(
      environment: { _ in nil }, readFile: { _ in .success(Array(text.utf8)) }, listFiles: { _ in [] }, isRoot: true)
    return try ConfigurationLoader.load(path: "/test/pawl.ini", surroundings: surroundings)
  }

  @Test("because uploads would be stranded: another state-dir, another path of a spool")
  func stranded() throws {
    let running = try load("/s", "/spool")
    #expect(UpgradeRefusal.reason(from: running, to: running) == nil)
    let state = UpgradeRefusal.reason(from: running, to: try load("/s2", "/spool"))
    #expect(state?.hasPrefix("/test/pawl.ini:2: [pawl] state-dir: it cannot be changed while pawl runs") == true)
    #expect(
      UpgradeRefusal.reason(from: running, to: try load("/s", "/other"))
        == "the configuration file has no spool in /spool any more ([spool:default]): reload first, which keeps its uploads"
    )
  }

  @Test(
    "because there is no room to open the stores",
    arguments: [(StoreRoom.leastToOpen, false), (StoreRoom.leastToOpen - 1, true)])
  func room(_ free: UInt64, _ isTooLittle: Bool) {
    #expect((StoreRoom.lacksToOpen(free) != nil) == isTooLittle)
  }
}
