import PawlBase
import PawlConfig
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The status at the admin interface", .timeLimit(.minutes(1))) struct AdminStatusTests {
  @Test("says what runs, since when, and by which configuration")
  func status() throws {
    let bench = try AdminBench()
    bench.shown.lastReload = ServerPicture.Reload(at: 5, outcome: ReloadOutcome(isApplied: true))
    bench.shown.generation = 2
    bench.shown.configuration.file = "/etc/pawl.ini"
    bench.shown.stillDraining = [7]
    let text = bench.ask("GET", "/v1/status").text
    #expect(text.hasPrefix("{\"version\":\"\(PawlVersion.text)\",\"pid\":"))
    #expect(
      text.contains(
        #""still_draining":[7],"configuration":{"generation":2,"file":"/etc/pawl.ini","last_reload":{"at":5,"applied":true,"mistakes":[],"needs_restart":[]}}"#
      ))
    #expect(text.contains(#""listeners":["http://127.0.0.1:80"]"#))
  }

  @Test("shows caches and spools of a server")
  func stores() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let picture = running.server.picture(startedAt: 0)
    #expect(picture.urls == running.server.urls && picture.caches.map(\.name) == ["default"])
    let caches = AdminStatus.caches(picture)
    let text = String(decoding: caches.content, as: UTF8.self)
    #expect(
      text.hasPrefix(
        "{\"caches\":[{\"name\":\"default\",\"path\":\"\(running.folder.path)/cache\",\"objects\":0,\"bytes\":0,\"partial_bytes\":0,"
      ))
    #expect(text.contains(#""has_room":true"#))
  }

  @Test("the configuration is shown without secrets")
  func configuration() throws {
    let bench = try AdminBench()
    for path in ["/v1/config", "/config"] {
      let text = bench.ask("GET", path).text
      #expect(text.contains(#"{"key":"token","value":"(secret)","origin":"/test/pawl.ini:"#))
      #expect(!text.contains("0123456789abcdef"))
    }
  }

  @Test("a value that came from a file of its own is a secret, in routes that inherit it, too")
  func substituted() throws {
    let text = """
      [upstream:app]
      url = http://127.0.0.1:1
      [site:default]
      upstream = app
      tus-field = ${file:/run/secret}
      [route:default/a]
      path = /a
      """
    let surroundings = Surroundings(
      environment: { _ in nil },
      readFile: { path in .success(Array((path == "/run/secret" ? "hidden" : text).utf8)) }, listFiles: { _ in [] },
      isRoot: false)
    let configuration = try ConfigurationLoader.load(path: "/x.ini", surroundings: surroundings)
    let reply = AdminConfiguration.reply(ServerPicture(configuration: configuration, startedAt: 0))
    let shown = String(decoding: reply.content, as: UTF8.self)
    #expect(!shown.contains("hidden") && shown.ranges(of: #"{"key":"tus-field","value":"(secret)""#).count == 2)
  }
}
