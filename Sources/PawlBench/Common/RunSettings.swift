/// The settings of a run, read from the command line and checked.
package struct RunSettings: Sendable {
  /// How a scenario loads the server.
  package enum Scenario: Hashable, Sendable {
    case hit
    /// Random ranges of `size` bytes, `parts` of them in one request.
    case ranges(size: UInt64, parts: Int)
    /// `{n}` in the URL is counted up from `first`. `readers` clients request each body at the same time.
    case fill(first: UInt64, readers: Int)
    case resume(interruptions: Int)
    case upload(UploadPlan)
    case idle
  }

  package var scenario: Scenario
  package var target: Target
  package var label: String
  package var length: RunPlan.Length = .seconds(10)
  package var connections = 64
  package var threads = 1
  /// Operations a second, independent of responses; `nil`: each connection sends its next request when the response has come.
  package var rate: Double?
  package var warmUp: Double = 0
  package var timeout: Double = 30
  package var seed: UInt64 = 1
  /// The core of the first thread; each further thread runs on the next core.
  package var core: Int?
  package var fields: [(name: String, value: String)] = []
  package var isHTTP2 = false
  package var streams = 10
  package var isInsecure = false
  package var ca: String?
  package var tlsMin: Int?
  package var tlsMax: Int?
  /// The reference that responses are compared with: a file, or a URL to load it from; the scenario's own URL if both are
  /// `nil`.
  package var referenceFile: String?
  package var referenceURL: Target?
  /// Whether content is compared byte by byte. Status, length and ranges are always checked.
  package var comparesContent = true
  /// `SO_RCVBUF` in bytes.
  package var receiveBuffer = 1 << 20

  package init(scenario: Scenario, target: Target) {
    (self.scenario, self.target) = (scenario, target)
    label = target.authority
  }

  /// The number of concurrent operations on one connection.
  var lanesEach: Int { isHTTP2 && scenario != .idle ? streams : 1 }

  package var scenarioName: String {
    switch scenario {
    case .hit: "hit"
    case .ranges: "ranges"
    case .fill: "fill"
    case .resume: "resume"
    case .upload: "upload"
    case .idle: "idle"
    }
  }

  var operation: String {
    switch scenario {
    case .hit, .ranges: "request"
    case .fill: "body"
    case .resume: "download"
    case .upload: "upload"
    case .idle: "connection"
    }
  }

  package var plan: RunPlan {
    RunPlan(
      scenario: scenarioName, label: label, url: target.url, length: length, warmUp: warmUp, operation: operation)
  }
}

/// How uploads are sent.
package struct UploadPlan: Hashable, Sendable {
  package enum Dialect: Hashable, Sendable {
    case plain
    /// The IETF draft for resumable uploads (RUFH) with this interop version, 3 to 10.
    case interop(Int)
    /// RUFH without `Upload-Draft-Interop-Version`, as in the future RFC.
    case final
    case tus
  }

  package var dialect: Dialect
  /// Bytes of one upload.
  package var size: UInt64
  /// The number of interruptions in each upload.
  package var interruptions: Int
  package var method: String

  package init(dialect: Dialect, size: UInt64, interruptions: Int, method: String = "POST") {
    (self.dialect, self.size, self.interruptions, self.method) = (dialect, size, interruptions, method)
  }
}
