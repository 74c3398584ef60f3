import PawlConfig
import Testing

@Suite("What a configuration probably does not mean") struct ConfigurationDoubtsTests {
  static let file = "/etc/pawl/pawl.ini"

  @Test(
    "is said, and taken",
    arguments: [
      (
        "[route:default/a]\npath = /api/",
        ["6: [route:default/a] path: is this one path only; /api/* is the path and all below it"]
      ),
      ("[route:default/a]\npath = /api/*", []), ("[route:default/a]\npath = /api", []),
      ("[route:default/a]\npath = /", []),
      (
        "[route:default/a]\npath = /.pawl/uploads/x*",
        [
          "6: [route:default/a] path: no request comes here: what begins with /.pawl/uploads/ are URLs of uploads (upload-prefix)"
        ]
      ),
      ("uploads = off\n[route:default/a]\npath = /.pawl/uploads/x*", []),
      (
        "[listen:a]\naddress = 127.0.0.1:8080, 0.0.0.0:443",
        ["6: [listen:a] address: 0.0.0.0:443 is the port of https, and this section has no tls: browsers cannot use it"]
      ),
      (
        "[listen:a]\naddress = [::]:80\ntls = a\n[tls:a]\ncertificate = c\nkey = k",
        ["6: [listen:a] address: [::]:80 is the port of http, and this section has tls: browsers cannot use it"]
      ),
      ("[listen:a]\naddress = 0.0.0.0:80\n[listen:b]\naddress = unix:/x\nunix-mode = 0660", []),
      (
        "[listen:a]\naddress = 127.0.0.1:8080\nunix-mode = 0660",
        ["7: [listen:a] unix-mode: has no effect without a unix socket in address"]
      ),
      (
        "[cache:default]\npath = /srv/a\n[spool:default]\npath = /srv/a/b/../c",
        [
          "8: [spool:default] path: /srv/a/c is inside the directory of [cache:default], /srv/a: give each a directory of its own"
        ]
      ),
      (
        "[cache:default]\npath = /srv/b/c\n[spool:default]\npath = /srv/b",
        [
          "6: [cache:default] path: /srv/b/c is inside the directory of [spool:default], /srv/b: give each a directory of its own"
        ]
      ),
      ("[cache:default]\npath = /srv/ab\n[spool:default]\npath = /srv/a", []),
    ])
  func doubts(_ lines: String, _ expected: [String]) {
    #expect(mistakes(in: smallest + lines) == expected.map { "\(Self.file):\($0) (warning)" })
  }

  @Test(
    "a URL that is an address of pawl's own is a circle",
    arguments: [
      ("127.0.0.1:8080", "http://127.0.0.1:8080", true), ("127.0.0.1:8080", "http://localhost:8080/x", true),
      ("127.0.0.1:8080", "http://127.0.0.2:8080", false), ("127.0.0.1:8080", "http://127.0.0.1:8081", false),
      ("0.0.0.0:8080", "http://127.0.0.2:8080", true), ("0.0.0.0:8080", "http://localhost:8080", true),
      ("0.0.0.0:8080", "http://[::1]:8080", false), ("[::]:8080", "http://[::1]:8080", true),
      ("[0:0::1]:8080", "http://[::1]:8080", true), ("0.0.0.0:8080", "http://10.0.0.1:8080", false),
      ("127.0.0.1:8080", "http://[::ffff:127.0.0.1]:8080", true),
      ("[::ffff:127.0.0.1]:8080", "http://127.0.0.1:8080", true), ("127.0.0.1:8080", "http://0.0.0.0:8080", true),
      ("10.0.0.1:8080", "http://10.0.0.1:8080", true), ("unix:/run/x.sock", "http://unix:/run/x.sock", true),
      ("unix:/run/y.sock", "http://unix:/run/x.sock", false), ("127.0.0.1:0", "http://127.0.0.1:80", false),
    ])
  func circle(_ address: String, _ url: String, _ isCircle: Bool) {
    let found = mistakes(
      in: "[upstream:app]\nurl = \(url)\n[site:x]\nupstream = app\n[listen:web]\naddress = \(address)")
    let shown = url.hasSuffix("/x") ? String(url) : url
    let expected =
      "\(Self.file):2: [upstream:app] url: \(shown) is pawl's own [listen:web]: requests would go round in a circle (warning)"
    #expect(found == (isCircle ? [expected] : []))
  }

  @Test("nothing of it is said beside an error")
  func errors() {
    #expect(
      mistakes(in: smallest + "x = y\n[route:default/a]\npath = /api/").filter { $0.hasSuffix("(warning)") } == [])
  }
}
