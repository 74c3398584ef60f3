import Testing

@testable import PawlBench

@Suite("URLs of targets") struct TargetTests {
  @Test("are taken apart")
  func parts() throws {
    let rows: [(String, Bool, String, UInt16, String, String)] = [
      ("http://A.example", false, "a.example", 80, "A.example", "/"),
      ("HTTPS://a.example:8443/b?c#d", true, "a.example", 8443, "a.example:8443", "/b?c"),
      ("http://[::1]:8080?q", false, "::1", 8080, "[::1]:8080", "/?q"),
      ("https://u:p@a.example/", true, "a.example", 443, "a.example", "/"),
    ]
    for (url, isSecure, host, port, authority, path) in rows {
      let target = try Target(url)
      #expect(target.isSecure == isSecure && target.host == host && target.port == port, "\(url)")
      #expect(target.authority == authority && target.path == path, "\(url)")
    }
  }

  @Test(
    "that are none are refused with a reason",
    arguments: [
      "", "a.example", "ftp://a.example/", "http://", "http://:80/", "http://a:0/", "http://a:x/", "http://a/ b",
    ])
  func refused(_ url: String) {
    #expect(throws: Target.Problem.self) { try Target(url) }
  }
}
