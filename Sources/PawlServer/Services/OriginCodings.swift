import PawlHTTP
import PawlLoop

/// Remembers which responses an origin compresses itself when the request allows it: by route and media type, and separately for
/// requests with cookies or credentials.
///
/// pawl asks the origin for uncompressed content. With this knowledge pawl compresses what the origin would have compressed, so
/// that no response is larger than without pawl. Users' pages are compressed only if their application compresses them itself,
/// since compression can leak secrets (the BREACH attack). An entry is valid for an hour.
struct OriginCodings {
  static let lifetime = Duration.seconds(3600)
  /// The least time between two requests of one kind that are sent with the client's own `Accept-Encoding`.
  static let pause = Duration.seconds(60)
  /// The most subjects, and the most kinds of requests, that are remembered; the oldest are dropped.
  static let limit = 1024

  /// A group of responses of which an origin compresses either all or none: those of one media type. For users' pages it is the
  /// responses of one path, since the decision may differ for each page.
  struct Subject: Hashable {
    /// ``RouteSettings/serial``.
    let route: Int
    /// The media type, in lower case, without parameters.
    let type: [UInt8]
    let isPersonal: Bool
    /// The path without the query; empty if the path does not matter.
    let path: [UInt8]

    init(route: Int, type: Bytes, target: Bytes, isPersonal: Bool) {
      (self.route, self.isPersonal) = (route, isPersonal)
      self.type = type.map(\.lowercasedASCII)
      let isPage = isPersonal && !Self.assets.contains { $0.matches(type) }
      path = isPage ? Array(target.prefix { $0 != 0x3f }) : []
    }

    /// Media types whose content is the same for all users.
    private static let assets = [
      "text/css", "text/javascript", "application/javascript", "application/x-javascript", "image/*", "font/*",
      "application/wasm", "application/vnd.ms-fontobject",
    ].map(MediaTypePattern.init)
  }

  /// A group of requests whose responses are probably of one media type: those with one file name extension. For users' pages
  /// it is the requests for one path.
  struct Kind: Hashable {
    let route: Int
    /// The extension of the path, in lower case, with its dot; empty if the path has none.
    let ending: [UInt8]
    let isPersonal: Bool
    /// The path without the query; empty if the extension is enough.
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
    /// When a request was last sent with the client's own `Accept-Encoding`; `nil`: never.
    var askedAt: Monotonic?
    var notedAt: Monotonic
  }

  private var lessons: [Subject: (compresses: Bool, at: Monotonic)] = [:]
  private var questions: [Kind: Question] = [:]

  /// Whether the origin compresses such responses; `nil`: not known.
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

  /// Opens the question whether the origin compresses the responses to this kind of requests. Called after a response of a sort
  /// for which that is not known. The next request of the kind then asks: it is sent with the client's own `Accept-Encoding`.
  mutating func wants(_ kind: Kind, at now: Monotonic) {
    if let question = questions[kind] {
      if !question.isOpen { questions[kind]?.isOpen = true }
      return
    }
    makeRoom()
    questions[kind] = Question(isOpen: true, askedAt: nil, notedAt: now)
  }

  /// Whether a request of this kind has to ask now. If so, the question counts as asked.
  /// - Parameter isDue: whether a request of a kind without an entry has to ask, too.
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

  /// Whether the question was answered or is being asked, within the lifetime of an entry.
  func isSettled(_ kind: Kind, at now: Monotonic) -> Bool {
    guard let question = questions[kind], !question.isOpen else { return false }
    return now - question.notedAt < Self.lifetime
  }

  /// Closes the question, since a response has answered it.
  mutating func learned(_ kind: Kind, at now: Monotonic) {
    if questions[kind] == nil { makeRoom() }
    questions[kind] = Question(isOpen: false, askedAt: now, notedAt: now)
  }

  /// Opens the question again after a response that shows nothing: the next request asks.
  mutating func reopens(_ kind: Kind) {
    questions[kind]?.isOpen = true
    questions[kind]?.askedAt = nil
  }

  /// Postpones an open question by ``pause``.
  mutating func postpones(_ kind: Kind, at now: Monotonic) { questions[kind]?.askedAt = now }

  private mutating func makeRoom() {
    guard questions.count >= Self.limit, let oldest = questions.min(by: { $0.value.notedAt < $1.value.notedAt })?.key
    else { return }
    questions[oldest] = nil
  }
}
