import PawlConfig
import Testing

@Suite("Broken files") struct MutationTests {
  static let sample = """
    [pawl]
    state-dir = ${HOME:-/x}/state
    workers = auto
    access-log = stderr
    trusted-proxies = 10.0.0.0/8, ::ffff:1.2.3.4/96
    [include]
    files = conf.d/*.ini
    [listen:web]
    address = [::1]:8080, unix:run/x.sock
    max-header = 32K
    header-timeout = 500ms
    tls = web
    proxy-protocol = on
    [tls:web]
    certificate = ec.pem
    key = ec.key
    client-ca = ca.pem
    client-certificate = optional
    min-version = 1.3
    [cache:default]
    max-size = 10G
    [upstream:app]
    url = http://[::1]:9000/base http://unix:/run/x https://a.example/b
    tls-ca = ca.pem
    tls-server-name = b.example
    [site:default]
    host = a.example [::1]
    upstream = app
    min-rate = 1K/60s
    owner = cookie:a, authorization
    cors = https://a.example:8443
    hsts = 365d include-subdomains preload
    [route:default/a]
    path = /a*
    upload-prefix = /up/
    """

  /// Each answer is a configuration or a list of mistakes; what is asked here is that there is one.
  @Test("never end the program, whatever stands in them")
  func mutations() {
    var random: UInt64 = 0x9e37_79b9_7f4a_7c15
    func next(_ bound: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((random >> 33) % UInt64(bound))
    }
    let marks = Array("[]:=/*-_.,%${}#;\"\\ \n\r\t0919KMGsmhd".utf8) + [0, 0x7f, 0x80, 0xc3, 0xff]
    var valid = 0
    for _ in 0..<300 {
      var bytes = Array(Self.sample.utf8)
      for _ in 0..<(1 + next(6)) {
        let place = next(bytes.count)
        switch next(4) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(marks[next(marks.count)], at: place)
        case 2: bytes[place] = marks[next(marks.count)]
        default: bytes.removeSubrange(place..<min(bytes.count, place + next(12)))
        }
      }
      let world = Surroundings(
        environment: { _ in nil }, readFile: { .success($0 == "a.ini" ? bytes : []) }, listFiles: { [$0] },
        isRoot: false)
      do throws(InvalidConfiguration) {
        _ = try ConfigurationLoader.load(path: "a.ini", surroundings: world)
        valid += 1
      } catch {
        #expect(error.issues.contains { $0.severity == .error })
      }
    }
    #expect(valid < 300)
  }
}
