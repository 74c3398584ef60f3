import PawlConfig
import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Which route a request takes") struct RouterTests {
  private static let sites = """
    [route:default/exact]
    path = /a
    [route:default/below]
    path = /a/*
    [site:files]
    host = files.example, www.files.example
    upstream = app
    [route:files/big]
    path = /big/*
    cache = off
    """

  @Test(
    "the site that names the host, else the default one; the longest path",
    arguments: [
      ("files.example", "/", "files"), ("files.example:8080", "/big/x?y", "files/big"),
      ("www.files.example", "/bigger", "files"),
      ("other", "/", "default"), ("", "/", "default"), ("other", "/a", "default/exact"),
      ("other", "/a?b=/a/", "default/exact"),
      ("other", "/a/b", "default/below"), ("other", "/ab", "default"),
    ])
  func routes(_ host: String, _ target: String, _ name: String) throws {
    let bench = try ServerBench { $0.more = Self.sites }
    #expect(bench.serverLoop.services.router.route(authority: Bytes(host), target: Bytes(target))?.name == name)
  }

  @Test("no default site: nobody answers for other hosts")
  func noDefault() throws {
    let bench = try ServerBench { $0.site = "host = a.example" }
    #expect(bench.serverLoop.services.router.route(authority: Bytes("b.example"), target: Bytes("/")) == nil)
    #expect(
      bench.serverLoop.services.router.route(authority: Bytes("a.example:1"), target: Bytes("/"))?.name == "default")
  }
}
