import PawlHTTP
import PawlLoop

/// What is known of which answers an origin compresses itself, where the request takes that: by route and media type, apart for requests
/// that show cookies or credentials. Only so nothing arrives larger than it would without pawl, which asks for content that is not
/// compressed; and pages of users are compressed only where their application does it (BREACH). A lesson holds for an hour.
struct OriginCodings {
  static let lifetime = Duration.seconds(3600)
  /// Between two requests of one kind that go on with their own `Accept-Encoding`.
  static let pause = Duration.seconds(60)
  /// Lessons, and kinds of requests; of more the oldest go.
  static let limit = 1024

  /// Answers that are compressed alike: those of one type; pages of users, where each may be another, those of one path.
  struct Subject: Hashable {
    /// ``RouteSettings/serial``.
    let route: Int
    /// In lower case, without parameters.
    let type: [UInt8]
    let isPersonal: Bool
    /// Without the query; empty where it does not matter.
    let path: [UInt8]

    init(route: Int, type: Bytes, target: Bytes, isPersonal: Bool) {
      (self.route, self.isPersonal) = (route, isPersonal)
      self.type = type.map(\.lowercasedASCII)
      let isPage = isPersonal && !Self.assets.contains { $0.matches(type) }
      path = isPage ? Array(target.prefix { $0 != 0x3f }) : []
    }

    /// What says the same to all users.
    private static let assets = [
      "text/css", "text/javascript", "application/javascript", "application/x-javascript", "image/*", "font/*",
      "application/wasm", "application/vnd.ms-fontobject",
    ].map(MediaTypePattern.init)
  }

  /// Requests whose answers may be of one type: those of one ending, and of pages of users those of one path.
  struct Kind: Hashable {
    let route: Int
    /// Of the path, in lower case, with its dot; empty where it has none.
    let ending: [UInt8]
    let isPersonal: Bool
    /// Without the query; empty where the ending tells enough.
    let path: [UInt8]
    var isPage: Bool { isPersonal && !Self.assets.contains(ending) }

    private static let assets = Set(
      [
        ".css", ".js", ".mjs", ".map", ".svg", ".wasm", ".ico", ".ttf", ".otf", ".woff", ".woff2", ".png", ".jpg",
        ".gif",
      ]
      .map { Array($0.utf8) })

    init(route: Int, target: some Sequence<UInt8>, isPersonal: Bool) {
      (self.route, self.isPersonal) = (route, isPersonal)
      var name: [UInt8] = []
      for byte in target {
        if byte == 0x3f { break }
        if byte == 0x2f { name = [] } else { name.append(byte) }
      }
      let dot = name.lastIndex(of: 0x2e)
      ending = dot.map { name[$0...].prefix(16).map(\.lowercasedASCII) } ?? []
      path = isPersonal && !Self.assets.contains(ending) ? Array(target.prefix { $0 != 0x3f }) : []
    }
  }

  private struct Question {
    var isOpen: Bool
    /// When it was asked last; `nil`: never.
    var askedAt: Monotonic?
    var notedAt: Monotonic
  }

  private var lessons: [Subject: (compresses: Bool, at: Monotonic)] = [:]
  private var questions: [Kind: Question] = [:]

  /// Whether the origin compresses it; `nil`: not known.
  func compresses(_ subject: Subject, at now: Monotonic) -> Bool? {
    guard let lesson = lessons[subject], now - lesson.at < Self.lifetime else { return nil }
    return lesson.compresses
  }

  mutating func note(_ compresses: Bool, of subject: Subject, at now: Monotonic) {
    if lessons.count >= Self.limit, lessons[subject] == nil,
      let oldest = lessons.min(by: { $0.value.at < $1.value.at })?.key
    {
      lessons[oldest] = nil
    }
    lessons[subject] = (compresses, now)
  }

  /// An answer came of which nothing is known: the next request of its kind is to find out.
  mutating func wants(_ kind: Kind, at now: Monotonic) {
    if let question = questions[kind] {
      if !question.isOpen { questions[kind]?.isOpen = true }
      return
    }
    makeRoom()
    questions[kind] = Question(isOpen: true, askedAt: nil, notedAt: now)
  }

  /// Whether a request of this kind is to find out now; then it counts as asked.
  /// - Parameter isDue: where nobody has asked before, too.
  mutating func takesQuestion(_ kind: Kind, isDue: Bool, at now: Monotonic) -> Bool {
    guard let question = questions[kind] else {
      guard isDue else { return false }
      makeRoom()
      questions[kind] = Question(isOpen: false, askedAt: now, notedAt: now)
      return true
    }
    guard question.isOpen, question.askedAt.map({ now - $0 >= Self.pause }) ?? true else { return false }
    questions[kind] = Question(isOpen: false, askedAt: now, notedAt: now)
    return true
  }

  /// Whether it was asked and answered, or is being asked, and that has not been forgotten since.
  func isSettled(_ kind: Kind, at now: Monotonic) -> Bool {
    guard let question = questions[kind], !question.isOpen else { return false }
    return now - question.notedAt < Self.lifetime
  }

  /// It is answered.
  mutating func learned(_ kind: Kind, at now: Monotonic) {
    if questions[kind] == nil { makeRoom() }
    questions[kind] = Question(isOpen: false, askedAt: now, notedAt: now)
  }

  /// What was asked brought no answer that says anything: the next request asks again.
  mutating func reopens(_ kind: Kind) {
    questions[kind]?.isOpen = true
    questions[kind]?.askedAt = nil
  }

  /// Nobody asks for a while, though it is open.
  mutating func postpones(_ kind: Kind, at now: Monotonic) { questions[kind]?.askedAt = now }

  private mutating func makeRoom() {
    guard questions.count >= Self.limit, let oldest = questions.min(by: { $0.value.notedAt < $1.value.notedAt })?.key
    else { return }
    questions[oldest] = nil
  }
}
