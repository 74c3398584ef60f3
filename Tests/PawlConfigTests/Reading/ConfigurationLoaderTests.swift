import Testing

@testable import PawlConfig

@Suite("Loading a configuration") struct ConfigurationLoaderTests {
  @Test("four lines make a configuration, with the documented defaults")
  func minimal() throws {
    let configuration = try load(smallest)
    #expect(configuration.listeners.map(\.addresses) == [[.internet(host: "127.0.0.1", port: 8080)]])
    #expect(configuration.caches.map(\.path) == ["/var/lib/pawl/cache"])
    #expect(configuration.spools.map(\.path) == ["/var/lib/pawl/spool"])
    #expect(configuration.upstreams.map(\.urls.first?.description) == ["http://127.0.0.1:9000"])
    let site = try #require(configuration.site(forHost: "any.example"))
    #expect(site.settings == SiteSettings(upstream: "app"))
    #expect(configuration.process == ProcessSettings(stateDirectory: "/var/lib/pawl"))
    #expect(configuration.warnings.isEmpty)
  }

  @Test("state is kept in the working directory when not root")
  func stateDirectory() throws {
    let configuration = try load(smallest, isRoot: false)
    #expect(configuration.process.stateDirectory == "./pawl-state")
    #expect(configuration.caches.map(\.path) == ["pawl-state/cache"])
  }

  @Test("a file that cannot be read is one mistake")
  func unreadable() {
    #expect(
      throws: InvalidConfiguration(issues: [
        Issue(at: .file(path: "/x.ini", line: 0), "cannot read the file: No such file or directory")
      ])
    ) { try ConfigurationLoader.load(path: "/x.ini", surroundings: surroundings([:])) }
  }

  @Test("all mistakes are told at once, in the order of the file, with line, key, expectation and nearest match")
  func everything() {
    let text = """
      [pawl]
      workers = many
      log-levl = info
      drain-timeout = 30
      [listen:web]
      address = localhost:8080
      proxy-protocol = maybe
      [upstrem:app]
      url = http://x
      [upstream:app]
      url = 127.0.0.1:9000
      max-connections = 0
      [cache:main]
      max-size = 10GB
      [site:files]
      host = files.example.com
      upstream = ap
      cache = mian
      etag = orgin
      [route:file/down]
      path = /pub/*
      host = x
      """
    #expect(
      mistakes(in: text) == [
        "/etc/pawl/pawl.ini:2: [pawl] workers: expected auto or a whole number from 1 to 1024, found \"many\"",
        "/etc/pawl/pawl.ini:3: [pawl] log-levl: unknown key - did you mean \"log-level\"?",
        "/etc/pawl/pawl.ini:4: [pawl] drain-timeout: expected a time with its unit such as 500ms, 30s, 15m, 24h or 7d, "
          + "found \"30\" - did you mean \"30s\"?",
        "/etc/pawl/pawl.ini:6: [listen:web] address: expected an address such as 127.0.0.1:8080, [::]:443, unix:PATH or systemd:NAME, "
          + "found \"localhost:8080\" - did you mean \"127.0.0.1:8080\"?",
        "/etc/pawl/pawl.ini:7: [listen:web] proxy-protocol: expected on or off, found \"maybe\"",
        "/etc/pawl/pawl.ini:8: [upstrem:app] unknown section - did you mean \"upstream:app\"?",
        "/etc/pawl/pawl.ini:11: [upstream:app] url: expected a URL such as http://127.0.0.1:9000, found "
          + "\"127.0.0.1:9000\" - did you mean \"http://127.0.0.1:9000\"?",
        "/etc/pawl/pawl.ini:12: [upstream:app] max-connections: expected a whole number from 1 to 60000, found \"0\"",
        "/etc/pawl/pawl.ini:14: [cache:main] max-size: expected a size such as 64K, 10M or 5G, at least 1M, found "
          + "\"10GB\" - did you mean \"10G\"?",
        "/etc/pawl/pawl.ini:17: [site:files] upstream: there is no [upstream:ap] - did you mean \"app\"?",
        "/etc/pawl/pawl.ini:18: [site:files] cache: there is no [cache:mian] - did you mean \"main\"?",
        "/etc/pawl/pawl.ini:19: [site:files] etag: expected auto or origin, found \"orgin\" - did you mean \"origin\"?",
        "/etc/pawl/pawl.ini:20: [route:file/down] there is no [site:file] - did you mean \"route:files/down\"?",
        "/etc/pawl/pawl.ini:22: [route:file/down] host: belongs in [site:NAME], not in [route:file/down]",
      ])
  }

  @Test("the command line alone makes a configuration")
  func forwarding() throws {
    let configuration = try ConfigurationLoader.forwarding(
      to: "http://[::1]:9000/app/", listen: ["127.0.0.1:0", "unix:run/pawl.sock"], stateDirectory: "state",
      surroundings: surroundings([:]))
    #expect(configuration.upstreams.first?.urls.first?.basePath == "/app")
    #expect(
      configuration.listeners.first?.addresses == [.internet(host: "127.0.0.1", port: 0), .unix(path: "run/pawl.sock")])
    #expect(configuration.caches.first?.path == "state/cache")
    #expect(configuration.effective.first?.values.first == .init(key: "state-dir", text: "state", origin: .commandLine))
  }

  @Test("a mistake on the command line names the option")
  func forwardingMistakes() {
    #expect(
      throws: InvalidConfiguration(issues: [
        Issue(
          at: .commandLine, key: "--listen",
          "expected an address such as 127.0.0.1:8080, [::]:443, unix:PATH or systemd:NAME, found \"8080\"",
          suggestion: "127.0.0.1:8080"),
        Issue(at: .commandLine, key: "--to", "expected a URL such as http://127.0.0.1:9000, found \"ftp://x\""),
      ])
    ) {
      try ConfigurationLoader.forwarding(to: "ftp://x", listen: ["8080"], surroundings: surroundings([:]))
    }
  }
}
