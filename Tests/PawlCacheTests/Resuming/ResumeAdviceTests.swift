import PawlCache
import PawlHTTP
import Testing

@Suite("What makes an answer resumable") struct ResumeAdviceTests {
  private static let private15 = "resume-private = 15m"
  private static let withNoStore = "resume-private-no-store = on"
  private static let noCache = "resume-ttl-no-cache = on"

  private static func advice(
    _ lines: [String], _ request: [String] = [], length: UInt64 = 1 << 20, status: Int = 200,
    policy: CachePolicy = CachePolicy()
  ) -> [String]? {
    let (answer, asked) = (Messages.response(lines, status: status), Messages.request(request))
    let storability = Storability.decide(
      request: asked, response: answer, framing: .length(length), policy: policy, receivedAt: Messages.now)
    let advice = ResumeAdvice(answer, framing: .length(length), to: asked, storability: storability, policy: policy)
    return advice.map { [$0.why] + $0.lines }
  }

  @Test(
    "is the lines that are missing, for each reason",
    arguments: [
      ([], nil), (["ETag: \"x\"", "Cache-Control: no-cache"], nil), (["Cache-Control: max-age=0"], nil),
      (["Cache-Control: no-cache"], ["no-cache", noCache]),
      (["Cache-Control: must-revalidate"], ["must-revalidate", noCache]),
      (["Cache-Control: private"], ["private", private15]), (["Set-Cookie: a=b"], ["set-cookie", private15]),
      (["Vary: *"], ["vary-star", private15]), (["Cache-Control: no-store"], ["no-store", private15, withNoStore]),
      (["Content-Type: text/event-stream"], nil), (["Set-Cookie: a=b", "ETag: \"x\""], nil),
    ] as [([String], [String]?)])
  func reasons(_ lines: [String], _ expected: [String]?) { #expect(Self.advice(lines) == expected) }

  @Test("is nothing where the settings are there")
  func settings() {
    let all = CachePolicy(resumeTTLNoCache: true, resumePrivate: 60, resumePrivateNoStore: true)
    for value in ["no-cache", "must-revalidate", "private", "no-store"] {
      #expect(Self.advice(["Cache-Control: \(value)"], policy: all) == nil)
    }
    let some = CachePolicy(resumePrivate: 60)
    #expect(Self.advice(["Cache-Control: no-store"], policy: some) == ["no-store", Self.withNoStore])
    let none = CachePolicy(resumeTTL: 0)
    #expect(Self.advice(["Cache-Control: no-cache"], policy: none) == nil)
  }

  @Test("is given for downloads: long ones, and attachments")
  func downloads() {
    let kept = ["Cache-Control: private"]
    #expect(Self.advice(kept, length: ResumeAdvice.leastLength - 1) == nil)
    #expect(Self.advice(kept, length: ResumeAdvice.leastLength) != nil)
    #expect(Self.advice(kept + ["Content-Disposition: Attachment; filename=a"], length: 1) != nil)
    #expect(Self.advice(kept + ["Content-Disposition: inline"], length: 1) == nil)
    #expect(Self.advice(kept, ["Authorization: a"]) == ["private", Self.private15])
    #expect(Self.advice([], ["Authorization: a"]) == ["authorization", Self.private15])
    #expect(Self.advice([], ["Cache-Control: no-store"]) == nil)
    #expect(Self.advice(kept, status: 404) == nil)
  }
}
