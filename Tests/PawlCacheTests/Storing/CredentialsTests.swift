import PawlCache
import PawlHTTP
import Testing

@Suite("What a request shows of who sends it") struct CredentialsTests {
  @Test(
    "a credential or a cookie is seen, by name alone",
    arguments: [
      ([], false), (["Accept: */*", "User-Agent: curl/8", "Range: bytes=0-"], false),
      (["Cookie: a=b"], true), (["COOKIE: "], true), (["Authorization: Basic eA"], true),
      (["Proxy-Authorization: Basic eA"], true), (["Client-Cert: :AAAA:"], true), (["client_cert: x"], true),
      (["X-Api-Key: 1"], true), (["x-user: u1"], true), (["X-SSL-Client-Cert: x"], true), (["X-Auth: 1"], true),
      (["X-SessionID: 1"], true), (["PRIVATE-TOKEN: 1"], true),
      (["Sec-Fetch-User: ?1", "Sec-Fetch-Site: none", "Sec-CH-UA: x"], false),
      (["X-Forwarded-For: 10.0.0.1", "X-Request-Id: 7", "Referer: /login", "Origin: https://user"], false),
      (["X-Requested-With: XMLHttpRequest", "X-App-Version: 3", "Upgrade-Insecure-Requests: 1", "DNT: 1"], false),
    ])
  func shown(_ lines: [String], _ expected: Bool) {
    #expect(Credentials.areShown(in: Messages.fields(lines)) == expected)
  }

  @Test(
    "fields that pawl does not know are compared whatever their order and case; those of browsers and proxies are not",
    arguments: [
      ([], [], true), (["X-A: 1", "X-B: 2"], ["x-b:  2 ", "X-a: 1"], true), (["X-A: 1"], ["X-A: 2"], false),
      (["X-A: 1"], [], false), (["X-A: 1"], ["X-A: 1", "X-A: 1"], false), (["X-A: a"], ["X-A: A"], false),
      (["X-A: 1", "X-B: 2"], ["X-A: 2", "X-B: 1"], false),
      (["Accept: text/html", "Sec-Fetch-Mode: navigate", "traceparent: 00-1"], ["Priority: u=1", "CF-Ray: 2"], true),
      (["User-Agent: a", "Range: bytes=0-", "If-Range: \"x\""], ["User-Agent: b"], true),
    ])
  func unknown(_ one: [String], _ other: [String], _ areEqual: Bool) {
    let (a, b) = (Messages.fields(one), Messages.fields(other))
    #expect((Credentials.unknownFields(in: a) == Credentials.unknownFields(in: b)) == areEqual)
  }
}
