import ArgumentParser
import PawlBench

/// The options that all scenarios have.
struct LoadOptions: ParsableArguments {
  @Option(name: .shortAndLong, help: "Connections, all threads together. (default: 64)")
  var connections: Int?

  @Option(name: .shortAndLong, help: ArgumentHelp("Seconds to measure.", valueName: "seconds"))
  var duration: Double?

  @Option(name: [.customShort("n"), .long], help: ArgumentHelp("Stop after so many operations.", valueName: "number"))
  var requests: UInt64?

  @Option(
    help: ArgumentHelp(
      "Operations a second, begun when they are due whether or not others have ended; latencies count from then.",
      valueName: "number"))
  var rate: Double?

  @Option(help: ArgumentHelp("Seconds of load before the measurement begins.", valueName: "seconds"))
  var warmUp: Double = 0

  @Option(help: "Threads, each with connections of its own.")
  var threads = 1

  @Option(help: ArgumentHelp("Run on this core, further threads on the next ones.", valueName: "number"))
  var core: Int?

  @Flag(help: "Speak HTTP/2: over TLS by ALPN, in clear with prior knowledge.")
  var http2 = false

  @Option(help: "Requests at once on each connection (HTTP/2).")
  var streams = 10

  @Flag(help: "Do not verify the server's certificate.")
  var insecure = false

  @Option(
    help: ArgumentHelp("PEM file of the authorities to trust instead of the system's.", valueName: "file"),
    completion: .file())
  var ca: String?

  @Option(help: ArgumentHelp("Lowest version of TLS: 1.2 or 1.3.", valueName: "version"))
  var tlsMin: String?

  @Option(help: ArgumentHelp("Highest version of TLS: 1.2 or 1.3.", valueName: "version"))
  var tlsMax: String?

  @Option(
    name: [.customShort("H"), .long], help: ArgumentHelp("A field for every request.", valueName: "'name: value'"))
  var header: [String] = []

  @Option(
    help: ArgumentHelp("Compare what is received with this file; `upload` sends it.", valueName: "file"),
    completion: .file())
  var file: String?

  @Option(
    help: ArgumentHelp("Compare with what this URL gives before the run, such as the origin's own.", valueName: "url"))
  var reference: String?

  @Flag(inversion: .prefixedNo, help: "Compare content byte by byte; status, length and ranges always are.")
  var compare = true

  @Option(help: ArgumentHelp("Give up an exchange in which nothing moves for so long.", valueName: "seconds"))
  var timeout: Double = 30

  @Option(help: "What random ranges, cuts and content are made from: the same seed gives the same.")
  var seed: UInt64 = 1

  static let defaultConnections = 64

  func validate() throws {
    let connections = connections ?? Self.defaultConnections
    try Self.check(connections >= 1 && connections <= 65_536, "--connections is between 1 and 65536")
    try Self.check(threads >= 1 && threads <= 256, "--threads is between 1 and 256")
    try Self.check(threads <= connections, "--threads is more than --connections: each thread needs a connection")
    try Self.check(streams >= 1 && streams <= 1000, "--streams is between 1 and 1000")
    try Self.check(duration.map { $0 > 0 && $0 <= 86_400 } ?? true, "--duration is a number of seconds above 0")
    try Self.check(requests.map { $0 > 0 } ?? true, "--requests is at least 1")
    try Self.check(duration == nil || requests == nil, "--duration and --requests exclude each other")
    try Self.check(rate.map { $0 > 0 && $0 <= 10_000_000 } ?? true, "--rate is a number above 0")
    try Self.check(warmUp >= 0 && warmUp <= 3600, "--warm-up is a number of seconds")
    try Self.check(timeout > 0 && timeout <= 86_400, "--timeout is a number of seconds above 0")
    try Self.check(file == nil || reference == nil, "--file and --reference exclude each other")
    for field in header { _ = try Self.field(field) }
    _ = (try Self.version(tlsMin), try Self.version(tlsMax))
  }

  /// - Throws: `ValidationError` for an invalid URL.
  func settings(_ scenario: RunSettings.Scenario, _ url: String, defaultSeconds: Double = 10) throws -> RunSettings {
    var settings = RunSettings(scenario: scenario, target: try Self.target(url))
    settings.length = requests.map { .operations($0) } ?? .seconds(duration ?? defaultSeconds)
    (settings.connections, settings.threads, settings.rate) = (connections ?? Self.defaultConnections, threads, rate)
    (settings.warmUp, settings.timeout, settings.seed, settings.core) = (warmUp, timeout, seed, core)
    settings.fields = try header.map { try Self.field($0) }
    (settings.isHTTP2, settings.streams, settings.isInsecure, settings.ca) = (http2, streams, insecure, ca)
    (settings.tlsMin, settings.tlsMax) = (try Self.version(tlsMin), try Self.version(tlsMax))
    settings.referenceFile = file
    settings.referenceURL = try reference.map { try Self.target($0) }
    settings.comparesContent = compare
    return settings
  }

  static func target(_ url: String) throws -> Target {
    do throws(Target.Problem) { return try Target(url) } catch { throw ValidationError(error.description) }
  }

  static func check(_ isRight: Bool, _ sentence: String) throws {
    if !isRight { throw ValidationError(sentence + ".") }
  }

  private static func version(_ text: String?) throws -> Int? {
    switch text {
    case nil: nil
    case "1.2": 12
    case "1.3": 13
    case let other?: throw ValidationError("'\(other)' is not a version of TLS: 1.2 or 1.3.")
    }
  }

  private static func field(_ line: String) throws -> (name: String, value: String) {
    guard let colon = line.utf8.firstIndex(of: 0x3a), colon > line.startIndex,
      line[..<colon].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), line.utf8.allSatisfy({ $0 >= 0x20 || $0 == 0x09 })
    else { throw ValidationError("'\(line)' is not a field: 'Name: value'.") }
    let value = line[line.index(after: colon)...].drop { $0 == " " }
    return (String(line[..<colon]), String(value))
  }
}

/// A number of bytes: `1000`, `64K`, `1M`, `2G`.
struct Bytes: ExpressibleByArgument {
  let count: UInt64

  init?(argument: String) {
    let units: [Character: UInt64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let unit = argument.last.flatMap { units[Character($0.uppercased())] }
    guard let number = UInt64(unit == nil ? argument : String(argument.dropLast())) else { return nil }
    let (count, overflow) = number.multipliedReportingOverflow(by: unit ?? 1)
    guard !overflow, count <= 1 << 46 else { return nil }
    self.count = count
  }

  init(_ count: UInt64) { self.count = count }

  var defaultValueDescription: String {
    count % (1 << 20) == 0 ? "\(count >> 20)M" : count % 1024 == 0 ? "\(count >> 10)K" : "\(count)"
  }
}
