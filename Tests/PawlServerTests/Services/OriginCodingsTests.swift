import PawlHTTP
import PawlLoop
import Testing

@testable import PawlServer

@Suite("What an origin is known to compress") struct OriginCodingsTests {
  private static let now = Monotonic(nanoseconds: 1_000_000_000_000)
  private static func later(_ seconds: Int) -> Monotonic { now.advanced(by: .seconds(seconds)) }

  private static func subject(
    _ type: String = "text/html", route: Int = 1, target: String = "/a?b", isPersonal: Bool = false
  ) -> OriginCodings.Subject {
    OriginCodings.Subject(route: route, type: Bytes(type), target: Bytes(target), isPersonal: isPersonal)
  }

  /// For expectations, which change nothing.
  private final class Known {
    var table = OriginCodings()

    func takes(_ kind: OriginCodings.Kind, isDue: Bool, at now: Monotonic) -> Bool {
      table.takesQuestion(kind, isDue: isDue, at: now)
    }
  }

  private static func kind(_ target: String, isPersonal: Bool = false) -> OriginCodings.Kind {
    OriginCodings.Kind(route: 1, target: target.utf8, isPersonal: isPersonal)
  }

  @Test("for an hour and not a second longer; by route, type in any case, and whether users are told apart")
  func lessons() {
    var known = OriginCodings()
    #expect(known.compresses(Self.subject(), at: Self.now) == nil)
    known.note(true, of: Self.subject(), at: Self.now)
    #expect(known.compresses(Self.subject("Text/HTML"), at: Self.later(3599)) == true)
    #expect(known.compresses(Self.subject(), at: Self.later(3600)) == nil)
    for other in [Self.subject("text/css"), Self.subject(route: 2), Self.subject(isPersonal: true)] {
      #expect(known.compresses(other, at: Self.now) == nil)
    }
    known.note(false, of: Self.subject(), at: Self.later(10))
    #expect(known.compresses(Self.subject(), at: Self.later(3600)) == false)
  }

  @Test("pages of users are told apart by their paths; scripts, styles and what all may have by type alone")
  func pages() {
    #expect(Self.subject(isPersonal: true) == Self.subject(target: "/a?c", isPersonal: true))
    #expect(Self.subject(isPersonal: true) != Self.subject(target: "/b", isPersonal: true))
    #expect(Self.subject("text/css", isPersonal: true) == Self.subject("Text/CSS", target: "/b", isPersonal: true))
    #expect(Self.subject() == Self.subject(target: "/b"))
    #expect(Self.kind("/a?x", isPersonal: true) == Self.kind("/a?y", isPersonal: true))
    #expect(
      Self.kind("/a", isPersonal: true) != Self.kind("/b", isPersonal: true) && Self.kind("/a") == Self.kind("/b"))
    #expect(Self.kind("/a.css", isPersonal: true) == Self.kind("/b.css", isPersonal: true))
    #expect(Self.kind("/a", isPersonal: true).isPage && !Self.kind("/a.css", isPersonal: true).isPage)
    #expect(!Self.kind("/a").isPage)
  }

  @Test("what is answered is settled for an hour, or until it is opened again")
  func settled() {
    var known = OriginCodings()
    let kind = Self.kind("/a", isPersonal: true)
    #expect(!known.isSettled(kind, at: Self.now))
    known.learned(kind, at: Self.now)
    #expect(known.isSettled(kind, at: Self.later(3599)) && !known.isSettled(kind, at: Self.later(3600)))
    known.wants(kind, at: Self.now)
    #expect(!known.isSettled(kind, at: Self.now))
  }

  @Test("of so many subjects; of one more the oldest goes")
  func manyLessons() {
    var known = OriginCodings()
    for route in 0..<OriginCodings.limit { known.note(true, of: Self.subject(route: route), at: Self.later(route)) }
    let at = Self.later(OriginCodings.limit)
    #expect(known.compresses(Self.subject(route: 0), at: at) == true)
    known.note(true, of: Self.subject(route: -1), at: at)
    #expect(known.compresses(Self.subject(route: 0), at: at) == nil)
    #expect(known.compresses(Self.subject(route: 1), at: at) == true)
    #expect(known.compresses(Self.subject(route: -1), at: at) == true)
  }

  @Test(
    "paths are told apart by their endings",
    arguments: [
      ("/a/b.PBF", ".pbf"), ("/a/b.tar.gz?x=.y/z", ".gz"), ("/a", ""), ("/a.b/c", ""), ("/", ""), ("", ""),
      ("/.x", ".x"),
      ("/a.", "."), ("/a.0123456789abcdef", ".0123456789abcde"),
    ])
  func endings(_ target: String, _ ending: String) {
    #expect(Self.kind(target).ending == Array(ending.utf8))
  }

  @Test("a question is asked once: at first where it is due, then when an answer opens it again, at most once a minute")
  func questions() {
    let known = Known()
    let kind = Self.kind("/a.pbf")
    #expect(!known.takes(kind, isDue: false, at: Self.now))
    #expect(known.takes(kind, isDue: true, at: Self.now))
    #expect(!known.takes(kind, isDue: true, at: Self.later(3600)))
    known.table.wants(kind, at: Self.later(3600))
    #expect(known.takes(kind, isDue: false, at: Self.later(3600)))
    known.table.wants(kind, at: Self.later(3601))
    #expect(!known.takes(kind, isDue: true, at: Self.later(3659)))
    #expect(known.takes(kind, isDue: false, at: Self.later(3660)))
    // An answer that says nothing was no answer.
    known.table.reopens(kind)
    #expect(known.takes(kind, isDue: false, at: Self.later(3660)))
    known.table.reopens(kind)
    known.table.postpones(kind, at: Self.later(3661))
    #expect(
      !known.takes(kind, isDue: false, at: Self.later(3720)) && known.takes(kind, isDue: false, at: Self.later(3721)))
    #expect(!known.takes(Self.kind("/a.pbf", isPersonal: true), isDue: false, at: Self.later(3660)))
  }

  @Test("of so many kinds of requests; of one more the oldest goes")
  func manyQuestions() {
    let known = Known()
    for number in 0..<OriginCodings.limit { known.table.wants(Self.kind("/x.\(number)"), at: Self.later(number)) }
    let at = Self.later(OriginCodings.limit)
    known.table.wants(Self.kind("/x.new"), at: at)
    #expect(!known.takes(Self.kind("/x.0"), isDue: false, at: at))
    #expect(known.takes(Self.kind("/x.1"), isDue: false, at: at))
    #expect(known.takes(Self.kind("/x.new"), isDue: false, at: at))
  }
}
