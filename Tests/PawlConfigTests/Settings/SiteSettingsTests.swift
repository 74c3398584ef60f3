import Testing

@testable import PawlConfig

@Suite("What a site says") struct SiteSettingsTests {
  @Test(
    "the heuristic is off where it is written so, or default-ttl = 0s is",
    arguments: [
      ("", "24h"), ("default-ttl = 10m", "24h"), ("default-ttl = 0s", "off"), ("heuristic-ttl = off", "off"),
      ("heuristic-ttl = 0s", "off"), ("heuristic-ttl = 90s", "90s"), ("default-ttl = 0s\nheuristic-ttl = 1h", "1h"),
      ("heuristic-ttl = 1h\ndefault-ttl = 0s", "1h"),
    ])
  func heuristic(_ written: String, _ shown: String) throws {
    let configuration = try load(smallest + written)
    let values = try #require(configuration.effective.first { $0.label == "site:default" }).values
    #expect(values.first { $0.key == "heuristic-ttl" }?.text == shown)
    let limit = try #require(configuration.sites.first).settings.heuristicLimit
    #expect(ValueFormat<Duration>.time.show(limit) == (shown == "off" ? "0s" : shown))
  }

  @Test("a route that writes default-ttl says anew whether the heuristic counts")
  func inherited() throws {
    let text = """
      default-ttl = 0s
      [route:default/a]
      path = /a*
      default-ttl = 5m
      [route:default/b]
      path = /b*
      """
    let site = try #require(try load(smallest + text).sites.first)
    #expect(site.settings(forPath: Array("/a".utf8)[...]).heuristicLimit == .seconds(86_400))
    #expect(site.settings(forPath: Array("/b".utf8)[...]).heuristicLimit == .zero)
  }
}
