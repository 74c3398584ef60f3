import PawlCache
import PawlConfig
import Testing

@testable import PawlServer

@Suite("What a route is told") struct RouteSettingsTests {
  @Test("takes each setting of the configuration over, in its own units")
  func settings() throws {
    let bench = try ServerBench {
      $0.site = """
        etag = origin
        origin-encoding = pass
        default-ttl = 1500ms
        heuristic-ttl = 90s
        stale-if-error = 2m
        resume-ttl = 3h
        resume-ttl-no-cache = on
        max-object = 5M
        resume-private = 10m
        resume-private-no-store = yes
        max-ranges = 3
        max-unknown = 7M
        abandoned-fill = 9M
        owner = cookie:id
        """
      $0.upstream = "resume-attempts = 4\nreplay-limit = 6"
    }
    let route = bench.route
    #expect(
      route.policy
        == CachePolicy(
          defaultTTL: 2, heuristicTTL: 90, staleIfError: 120, resumeTTL: 10_800, resumeTTLNoCache: true,
          maxObject: 5 << 20, resumePrivate: 600,
          resumePrivateNoStore: true, asksIdentity: false))
    #expect(route.etag == .origin && !route.asksIdentity && route.maxRanges == 3)
    #expect(route.maxUnknown == 7 << 20 && route.abandonedFill == 9 << 20)
    #expect(route.resumeAttempts == 4 && route.replayLimit == 6 && route.owner == [.cookie(name: "id")])
    #expect(route.upstreamName == "app" && route.fallbackHost == Array("127.0.0.1:1".utf8))
  }

  @Test(
    "a begun second counts as whole",
    arguments: [(Duration.zero, Int64(0)), (.milliseconds(1), 1), (.seconds(2), 2), (.milliseconds(2001), 3)])
  func seconds(_ duration: Duration, _ expected: Int64) { #expect(duration.wholeSeconds == expected) }
}
