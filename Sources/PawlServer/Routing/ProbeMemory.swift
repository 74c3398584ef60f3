import DequeModule
import PawlHTTP
import PawlLoop
import PawlTLS
import PawlUploadStore
import PawlUpstream

/// What origins said of the upload protocols they speak themselves, by route and path. Bounded.
struct ProbeMemory: Sendable {
  /// Entries kept; the oldest goes first.
  static let limit = 4096
  static let lifetime = Duration.seconds(600)
  /// How long an origin that did not answer counts as what it was before, or as one that speaks nothing.
  static let uncertainLifetime = Duration.seconds(60)
  /// How long what an origin has shown by its answers outweighs an OPTIONS that says nothing.
  static let lessonLifetime = Duration.seconds(86_400)

  struct Key: Hashable, Sendable {
    let upstream: ObjectIdentifier
    let route: String
    /// Of a POST the path; else its directory: what is PUT there is new each time.
    let path: [UInt8]

    init(upstream: ObjectIdentifier, route: String, method: Method, target: Bytes) {
      (self.upstream, self.route) = (upstream, route)
      let whole = target.prefix { $0 != 0x3f }
      let path = method == .post ? whole : whole[...(whole.lastIndex(of: 0x2f) ?? whole.endIndex - 1)]
      self.path = path.count <= Self.pathLimit ? Array(path) : SHA256.digest(Array(path))
    }

    /// A longer path is remembered by its hash, in bytes.
    private static let pathLimit = 512

    /// Of the creation of an upload that goes this way now.
    init(_ origin: UploadOrigin, _ route: RouteSettings) {
      self.init(
        upstream: route.upstream.id, route: route.name, method: origin.head.method,
        target: origin.head.target.isEmpty ? [0x2f] : origin.head.target)
    }
  }

  struct Answer: Hashable, Sendable {
    var tus = false
    var ietf = false

    init() {}

    /// What an origin has that gives it says something of itself. One that is overloaded does not.
    static func isCertain(status: Int) -> Bool {
      switch status {
      case 408, 429, 502, 503, 504: false
      default: true
      }
    }

    /// tus 1.0.0 announces its versions, in what it refuses, too; the drafts their limits, or the type of an append.
    init(_ head: ResponseHead) {
      let fields = head.fields
      tus =
        head.status != 404
        && (fields.contains(.tusResumable) || fields.combined(named: Bytes("Tus-Version")) != nil)
      guard (200..<300).contains(head.status) else { return }
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
    /// The origin itself has answered.
    var isSaid: Bool
    /// It has shown by its answers that it speaks tus, and this counts so long.
    var lesson: Monotonic?
    /// Only by a refusal, which may have meant something else.
    var isDoubtful = false
  }

  private var entries: [Key: Entry] = [:]
  private var order = Deque<(key: Key, number: UInt64)>()
  private var lastNumber: UInt64 = 0

  var count: Int { entries.count }

  func answer(for key: Key, at now: Monotonic) -> Answer? {
    guard let entry = entries[key], now < entry.until else { return nil }
    return entry.answer
  }

  /// What the origin itself said or showed last, however long ago.
  func lastSaid(for key: Key) -> Answer? { entries[key].flatMap { $0.isSaid ? $0.answer : nil } }

  /// - Parameter isCertain: the origin itself has answered. Otherwise what it said before stays.
  mutating func remember(_ answer: Answer, for key: Key, isCertain: Bool, at now: Monotonic) {
    let until = now.advanced(by: isCertain ? Self.lifetime : Self.uncertainLifetime)
    var entry = Entry(answer: answer, until: until, number: 0, isSaid: isCertain)
    if let before = entries[key] {
      if !isCertain, before.isSaid { (entry.answer, entry.isSaid) = (before.answer, true) }
      if let lesson = before.lesson, now < lesson {
        (entry.answer.tus, entry.lesson, entry.isDoubtful) = (true, lesson, before.isDoubtful)
      }
    }
    put(entry, for: key)
  }

  /// An answer to something else has shown that the origin speaks tus.
  /// - Parameter isSaid: by its fields; `false`: by a refusal that may have meant something else.
  /// - Returns: whether that is news.
  mutating func teach(tus key: Key, isSaid: Bool, at now: Monotonic) -> Bool {
    let before = entries[key]
    let isNews = before.map { !$0.answer.tus || now >= $0.until } ?? true
    var entry = Entry(
      answer: before?.answer ?? Answer(), until: now.advanced(by: Self.lifetime), number: 0, isSaid: true,
      lesson: now.advanced(by: Self.lessonLifetime))
    entry.answer.tus = true
    entry.isDoubtful = !isSaid && before?.lesson == nil || before?.isDoubtful == true && !isSaid
    put(entry, for: key)
    return isNews
  }

  /// A request in tus was answered without a word of it: a lesson that may have meant something else meant that.
  mutating func doubt(_ key: Key) {
    if entries[key]?.isDoubtful == true { entries[key] = nil }
  }

  private mutating func put(_ entry: Entry, for key: Key) {
    var entry = entry
    lastNumber += 1
    entry.number = lastNumber
    entries[key] = entry
    order.append((key, lastNumber))
    if order.count > Self.limit * 2 { order.removeAll { entries[$0.key]?.number != $0.number } }
    while entries.count > Self.limit, !order.isEmpty {
      let oldest = order.removeFirst()
      if entries[oldest.key]?.number == oldest.number { entries[oldest.key] = nil }
    }
  }
}
