import Testing

@testable import PawlConfig

@Suite("Lines of other programs") struct ForeignLineTests {
  @Test(
    "are answered by the longest of their first words that is known",
    arguments: [
      ("server {", ForeignProgram.nginx, "server {"), ("server 10.0.0.1:80;", .nginx, "server"),
      ("} location = /x {", .nginx, "location"), ("timeout server 5s", .haproxy, "timeout server"),
      ("timeout other 5s", .haproxy, "timeout"), ("tls internal", .caddy, "tls internal"), ("tls a b", .caddy, "tls"),
      ("set req.http.X-A = \"b\";", .varnish, "req.http.*"), ("if (!req.url) {", .varnish, "req.url"),
      ("return(pass);", .varnish, "return"), ("<VirtualHost *:80>", .apache, "<VirtualHost"),
      ("dest_domain=a ttl-in-cache=1h", .trafficServer, "dest_domain"), ("SERVER-NAME x;", .nginx, "server_name"),
    ])
  func words(_ line: String, _ program: ForeignProgram, _ word: String) {
    #expect(ForeignLine(line).answer(of: program)?.word == word)
  }

  @Test(
    "say what they look like",
    arguments: [
      ("a = b", [true, false, false, false, false]), ("a=b", [true, false, false, false, false]),
      ("a = b;", [false, true, false, false, false]), ("a {", [false, false, true, false, false]),
      ("};", [false, true, false, true, false]), ("<x>", [false, false, false, false, true]),
    ])
  func shape(_ text: String, _ expected: [Bool]) {
    let line = ForeignLine(text)
    #expect([line.isEntry, line.endsWithSemicolon, line.opensBlock, line.isBrace, line.isTag] == expected)
  }
}
