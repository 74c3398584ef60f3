import DequeModule
import PawlHTTP
import PawlLoop
import PawlTLS
import PawlUploadStore
import PawlUpstream

/// Remembers which upload protocols origins speak themselves, by route and path. Keeps at most ``limit`` entries.
struct ProbeMemory: Sendable {
  /// The most entries; the oldest is dropped first.
  static let limit = 4096
  static let lifetime = Duration.seconds(600)
  /// How long the earlier result, or "no protocol" if there is none, is used for an origin that did not answer OPTIONS.
  static let uncertainLifetime = Duration.seconds(60)
  /// How long a lesson counts. A lesson is a response to a request other than OPTIONS, which has shown that the origin speaks
  /// tus. A lesson outweighs a response to OPTIONS that shows nothing.
  static let lessonLifetime = Duration.seconds(86_400)

  struct Key: Hashable, Sendable {
    let upstream: ObjectIdentifier
    let route: String
    /// The path of a POST; for other methods the directory of the path, since each PUT may create a new path.
    let path: [UInt8]

    init(upstream: ObjectIdentifier, route: String, method: Method, target: Bytes) {
      (self.upstream, self.route) = (upstream, route)
      let whole = target.prefix { $0 != 0x3f }
      let path = method == .post ? whole : whole[...(whole.lastIndex(of: 0x2f) ?? whole.endIndex - 1)]
      self.path = path.count <= Self.pathLimit ? Array(path) : SHA256.digest(Array(path))
    }

    /// The length in bytes of the longest path that is kept itself; of a longer path the hash is kept.
    private static let pathLimit = 512

    /// Makes the key for the request that created an upload, which now goes on by this route.
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

    /// Whether a response with this status shows what the origin speaks. A response of an overloaded origin does not.
    static func isCertain(status: Int) -> Bool {
      switch status {
      case 408, 429, 502, 503, 504: false
      default: true
      }
    }

    /// Reads the protocols from a response. An origin that speaks tus 1.0.0 announces its versions, even if it refuses the
    /// request; one that speaks an IETF draft announces its limits or the media type of an append.
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
    /// Whether the answer is from the origin itself.
    var isSaid: Bool
    /// The time at which the lesson ends (``lessonLifetime``); `nil`: no lesson.
    var lesson: Monotonic?
    /// Whether the lesson is only from a refusal, which may have had another reason.
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

  /// The last answer from the origin itself, even if it has expired.
  func lastSaid(for key: Key) -> Answer? { entries[key].flatMap { $0.isSaid ? $0.answer : nil } }

  /// Stores an answer.
  /// - Parameter isCertain: whether the origin itself has answered. If not, the origin's earlier answer stays.
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

  /// Stores that the origin speaks tus, as its response to another request has shown.
  /// - Parameter isSaid: whether the response's fields showed tus; `false`: only a refusal did, which may have had another
  ///   reason.
  /// - Returns: whether that was unknown until now.
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

  /// Forgets a doubtful lesson, after a tus request got a response without any tus field.
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
