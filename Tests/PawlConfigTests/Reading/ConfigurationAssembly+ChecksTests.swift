import PawlConfig
import Testing

@Suite("What a configuration may not say") struct ConfigurationChecksTests {
  static let file = "/etc/pawl/pawl.ini"

  @Test(
    "each mistake has its message",
    arguments: [
      (
        "",
        [
          "\(file): there is no [upstream:NAME]: nowhere to send requests",
          "\(file): there is no [site:NAME]: nothing to serve",
        ]
      ),
      (
        smallest + "[site:other]\nupstream = app",
        ["\(file):5: [site:other] a second site without host; [site:default] at \(file):3 is the default site already"]
      ),
      (
        smallest + "host = a.example b.example\n[site:other]\nupstream = app\nhost = B.example",
        ["\(file):8: [site:other] host: \"b.example\" stands already at \(file):5"]
      ),
      (
        smallest + "[route:default/a]\npath = /a*\n[route:default/b]\npath = /a*",
        ["\(file):8: [route:default/b] path: \"/a*\" of this site stands already at \(file):6"]
      ),
      (smallest + "[route:default/a]\n", ["\(file):5: [route:default/a] path: required, but missing"]),
      ("[upstream:app]\n[site:x]\nupstream = app", ["\(file):1: [upstream:app] url: required, but missing"]),
      (
        smallest + "[listen:a]\naddress = 127.0.0.1:80\n[listen:b]\naddress = 127.0.0.1:0, 127.0.0.1:0, 127.0.0.1:80",
        ["\(file):8: [listen:b] address: \"127.0.0.1:80\" is listened on already at \(file):6"]
      ),
      (
        smallest
          + "cache = main\n[route:default/b]\npath = /b*\ncache = off\n[cache:main]\npath = /x/y\n[spool:default]\npath = ../../x/./y",
        ["\(file):12: [spool:default] path: /x/y is the directory of [cache:main] already (\(file):10)"]
      ),
      (
        smallest + "[listen:a]\naddress = 0.0.0.0:9180\n[admin]\nlisten = 127.0.0.1:9180\ntoken = 0123456789abcdef",
        [
          "\(file):8: [admin] listen: \"127.0.0.1:9180\" cannot be listened on beside \"0.0.0.0:9180\" (\(file):6): 0.0.0.0 and [::] are all addresses"
        ]
      ),
      (
        smallest + "[listen:a]\naddress = 127.0.0.1:9180\n[admin]\nlisten = 127.0.0.1:9180\ntoken = 0123456789abcdef",
        ["\(file):8: [admin] listen: \"127.0.0.1:9180\" is listened on already at \(file):6"]
      ),
      (
        smallest + "cors = * https://a.example",
        ["\(file):5: [site:default] cors: * stands alone: it allows every origin already"]
      ),
      (
        smallest + "owner = auth-request:X-User",
        ["\(file):5: [site:default] owner: auth-request:x-user needs auth-request, which is not set"]
      ),
      (smallest + "cache = of", ["\(file):5: [site:default] cache: there is no [cache:of] - did you mean \"off\"?"]),
      (
        smallest + "[cache:default]\nmemory = 1M\nmemory-object = 2M",
        [
          "\(file):7: [cache:default] memory-object: 2M is more than memory (1M): no body of that size is kept in memory (warning)"
        ]
      ),
      (smallest + "[upstream:b]\nurl = http://b", ["\(file):5: [upstream:b] no site uses this section (warning)"]),
    ])
  func refuses(_ text: String, _ expected: [String]) {
    #expect(mistakes(in: text) == expected)
  }

  @Test("a mistake in a site is told once, not again for its routes")
  func inherited() {
    let text = "[upstream:app]\nurl = http://a\n[site:x]\nupstream = ap\ncors = * null\n[route:x/y]\npath = /*"
    #expect(
      mistakes(in: text) == [
        "\(Self.file):4: [site:x] upstream: there is no [upstream:ap] - did you mean \"app\"?",
        "\(Self.file):5: [site:x] cors: * stands alone: it allows every origin already",
      ])
  }

  @Test("a share of nothing is a mistake", arguments: ["max-share-per-client", "max-share-per-path"])
  func noShare(_ key: String) {
    let text = "[upstream:app]\nurl = http://a\n\(key) = 0%\n[site:x]\nupstream = app"
    #expect(mistakes(in: text) == ["\(Self.file):3: [upstream:app] \(key): 0% would refuse every request"])
    #expect(mistakes(in: text.replacing("0%", with: "1%")) == [])
  }

  @Test(
    "nodes of an upstream",
    arguments: [
      (
        "url = http://a backup\nurl = http://b backup",
        ["2: [upstream:app] url: every url is a backup: at least one must not be"]
      ),
      ("url = http://a\nurl = http://b weight=2 backup\nbalance = hash\nmax-rest = 1m\nrest-after-errors = 0", []),
      ("url = http://a\nbalance = hash", ["3: [upstream:app] balance: has no effect: there is one url (warning)"]),
      (
        "url = http://a\nurl = http://b\nbalance = least-conn",
        ["4: [upstream:app] balance: expected round-robin, least-connections or hash, found \"least-conn\""]
      ),
      ("url = http://a\ncheck-path = /up\ncheck-status = 200, 204-299\ncheck-fall = 1", []),
      ("url = http://a\ncheck-rise = 1", ["3: [upstream:app] check-rise: has no effect without check-path (warning)"]),
    ])
  func nodes(_ keys: String, _ expected: [String]) {
    let said = mistakes(in: "[upstream:app]\n\(keys)\n[site:x]\nupstream = app")
    #expect(said == expected.map { "\(Self.file):\($0)" })
  }

  @Test("the keys of uploads are accepted")
  func uploads() throws {
    let text =
      smallest + """
        max-upload = 50G
        min-rate = 1K/30s
        delivery = at-least-once
        forward-give-up = 2d
        owner = cookie:session, client-certificate
        auth-request = /api/whoami
        tus-forward = multipart
        plain-uploads = spool
        [spool:default]
        max-share-per-client = 50%
        """
    let configuration = try load(text)
    let settings = try #require(configuration.sites.first?.settings)
    #expect(settings.upload.maxUpload == 50 << 30)
    #expect(settings.upload.minRate == Rate(bytes: 1024, per: .seconds(30)))
    #expect(settings.upload.delivery == .atLeastOnce)
    #expect(settings.upload.forwardGiveUp == .seconds(2 * 86400))
    #expect(settings.owner == [.cookie(name: "session"), .clientCertificate])
    #expect(settings.upload.authRequest == "/api/whoami")
    #expect(configuration.spools.first?.maxSharePerClient == 50)
  }

  @Test(
    "what makes little sense about uploads is said, and taken",
    arguments: [
      (
        "tus-field = f\ntus-form = a=b",
        [
          "tus-field: has no effect without tus-forward = multipart",
          "tus-form: has no effect without tus-forward = multipart",
        ]
      ),
      ("tus-forward = multipart\ntus-field = f", []),
      ("max-upload = 2G\n[spool:default]\nmax-size = 1G", ["max-upload: 2G is more than the spool takes (1G)"]),
      (
        "[spool:default]\nexpire-after = 8d",
        ["expire-after: 8d is more than max-age (7d): uploads are collected at max-age"]
      ),
      ("uploads = off\n[spool:default]\n", ["no site uses this section"]),
      ("uploads = off\nplain-uploads = spool\n[spool:default]\n", []),
    ])
  func hardlyMeant(_ lines: String, _ warnings: [String]) throws {
    let said = try load(smallest + lines).warnings.map(\.description)
    #expect(said.count == warnings.count, "\(said)")
    for (warning, text) in zip(said, warnings) { #expect(warning.hasSuffix(text + " (warning)"), "\(warning)") }
  }

  @Test("a spool that nobody may fill is refused")
  func noShare() {
    #expect(throws: InvalidConfiguration.self) {
      try load(smallest + "[spool:default]\nmax-share-per-client = 0%")
    }
  }

  @Test("a spool exists by itself where anything is spooled", arguments: ["off", "on"])
  func plainSpool(_ uploads: String) throws {
    let configuration = try load(smallest + "uploads = \(uploads)\nplain-uploads = spool")
    #expect(configuration.spools.map(\.name) == ["default"])
    #expect(configuration.sites.first?.settings.usesSpool == true)
  }

  @Test("the fields of a form keep their blanks and commas")
  func form() throws {
    let text =
      smallest + "tus-forward = multipart\ntus-form = title={title}, by {author}\ntus-form = kind=a b {{\ntus-form = e="
    let form = try #require(try load(text).sites.first).settings.upload.tusForm
    #expect(
      form == [
        FormEntry(name: "title", template: "{title}, by {author}"), FormEntry(name: "kind", template: "a b {{"),
        FormEntry(name: "e", template: ""),
      ])
  }
}
