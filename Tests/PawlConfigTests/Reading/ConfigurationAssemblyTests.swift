import Testing

@testable import PawlConfig

@Suite("Putting a configuration together") struct ConfigurationAssemblyTests {
  @Test("a route takes what its site says and overrides it; the longest path wins")
  func routes() throws {
    let text =
      smallest + """
        default-ttl = 5m
        cors = https://a.example https://b.example
        [route:default/all]
        path = /pub/*
        default-ttl = 1h
        [route:default/big]
        path = /pub/big/*
        cache = off
        cors = off
        [route:default/exact]
        path = /pub/big/
        max_ranges = 2
        """
    let configuration = try load(text)
    let site = try #require(configuration.sites.first)
    #expect(site.routes.map(\.name) == ["exact", "big", "all"])
    func settings(_ path: String) -> SiteSettings { site.settings(forPath: Array(path.utf8)[...]) }
    #expect(settings("/").defaultTTL == .seconds(300))
    #expect(settings("/pub").defaultTTL == .seconds(300))
    #expect(settings("/pub/x").defaultTTL == .seconds(3600))
    #expect(settings("/pub/x").upload.cors == .origins(["https://a.example", "https://b.example"]))
    #expect(settings("/pub/big/x").cache == nil)
    #expect(settings("/pub/big/x").upload.cors == .off)
    #expect(settings("/pub/big/x").defaultTTL == .seconds(300))
    #expect(settings("/pub/big/").maxRanges == 2)
  }

  @Test("sections that exist by themselves are there when something uses them")
  func implicit() throws {
    let off = try load(smallest + "cache = off\nuploads = off")
    #expect(off.caches.isEmpty)
    #expect(off.spools.isEmpty)
    let named = try load(
      smallest + "cache = main\n[route:default/a]\npath = /a*\ncache = default\n[cache:main]\npath = /m")
    #expect(named.caches.map(\.path) == ["/var/lib/pawl/cache", "/m"])
  }

  @Test("routes may stand before their site, and sections in any order")
  func order() throws {
    let text =
      "[route:x/a]\npath = /a*\n[site:x]\ndefault-ttl = 7s\nupstream = app\n[upstream:app]\nurl = http://a\n[pawl]\nstate-dir = s"
    let configuration = try load(text)
    #expect(configuration.sites.first?.routes.first?.settings.defaultTTL == .seconds(7))
    #expect(configuration.caches.first?.path == "/etc/pawl/s/cache")
  }

  @Test("hosts find their site, others the default site, or none")
  func hosts() throws {
    let text = smallest + "[site:a]\nhost = A.example\nhost = b.example, [::1]\nupstream = app"
    let configuration = try load(text)
    let found = ["a.example", "[::1]", "c.example"].map { configuration.site(forHost: $0)?.name }
    #expect(found == ["a", "a", "default"])
    let strict = try load("[upstream:app]\nurl = http://a\n[site:a]\nhost = a\nupstream = app")
    #expect(strict.site(forHost: "b") == nil)
  }
}
