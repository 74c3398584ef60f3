import PawlHTTP
import PawlLoop
import PawlUpstream

/// What origins said of the upload protocols they speak themselves, by route and path. Bounded.
struct ProbeMemory: Sendable {
  /// Entries kept; the oldest goes first.
  static let limit = 4096
  static let lifetime = Duration.seconds(600)
  /// How long an origin that did not answer counts as one that speaks nothing.
  static let uncertainLifetime = Duration.seconds(60)

  struct Key: Hashable, Sendable {
    let upstream: ObjectIdentifier
    let route: String
    /// Of a POST the path; else its directory: what is PUT there is new each time.
    let path: [UInt8]

    init(upstream: ObjectIdentifier, route: String, method: Method, target: Bytes) {
      (self.upstream, self.route) = (upstream, route)
      let whole = target.prefix { $0 != 0x3f }
      let path = method == .post ? whole : whole[...(whole.lastIndex(of: 0x2f) ?? whole.endIndex - 1)]
      self.path = path.count <= Self.pathLimit ? Array(path) : UploadNames.sha256(Array(path))
    }

    /// A longer path is remembered by its hash, in bytes.
    private static let pathLimit = 512

    init(_ request: IncomingRequest) {
      self.init(
        upstream: request.route.upstream.id, route: request.route.name, method: request.head.method,
        target: request.head.target.isEmpty ? [0x2f] : request.head.target)
    }
  }

  struct Answer: Hashable, Sendable {
    var tus = false
    var ietf = false

    init() {}

    /// tus 1.0.0 announces its versions; the drafts their limits, or the type of an append.
    init(_ head: ResponseHead) {
      guard (200..<300).contains(head.status) else { return }
      let fields = head.fields
      tus = fields.contains(.tusResumable) || fields.combined(named: Bytes("Tus-Version")) != nil
      ietf =
        fields.contains(.uploadLimit)
        || fields.all(named: Bytes("Accept-Patch")).contains { line in
          line.split(separator: 0x2c).contains { $0.trimmed.equalsIgnoringCase("application/partial-upload") }
        }
    }
  }

  private struct Entry: Sendable {
    var answer: Answer
    var until: Monotonic
    var number: UInt64
  }

  private var entries: [Key: Entry] = [:]
  private var order: [(key: Key, number: UInt64)] = []
  private var lastNumber: UInt64 = 0

  var count: Int { entries.count }

  func answer(for key: Key, at now: Monotonic) -> Answer? {
    guard let entry = entries[key], now < entry.until else { return nil }
    return entry.answer
  }

  /// - Parameter isCertain: the origin itself has answered.
  mutating func remember(_ answer: Answer, for key: Key, isCertain: Bool, at now: Monotonic) {
    lastNumber += 1
    let until = now.advanced(by: isCertain ? Self.lifetime : Self.uncertainLifetime)
    entries[key] = Entry(answer: answer, until: until, number: lastNumber)
    order.append((key, lastNumber))
    if order.count > Self.limit * 2 { order.removeAll { entries[$0.key]?.number != $0.number } }
    while entries.count > Self.limit, !order.isEmpty {
      let oldest = order.removeFirst()
      if entries[oldest.key]?.number == oldest.number { entries[oldest.key] = nil }
    }
  }
}
