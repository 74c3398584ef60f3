import PawlHTTP
import Testing

@Suite("Cache-Status (RFC 9211)") struct CacheStatusTests {
  @Test(
    "is one member",
    arguments: [
      (.init(hit: true, ttl: 5), "pawl; hit; ttl=5"), (.init(hit: true, ttl: -7), "pawl; hit; ttl=-7"),
      (.init(hit: true), "pawl; hit"), (.init(fwd: .uriMiss), "pawl; fwd=uri-miss"),
      (.init(fwd: .varyMiss, stored: true), "pawl; fwd=vary-miss; stored"),
      (.init(fwd: .stale, fwdStatus: 304, ttl: 60, stored: true), "pawl; fwd=stale; fwd-status=304; ttl=60; stored"),
      (.init(fwd: .miss, collapsed: true), "pawl; fwd=miss; collapsed"), (.init(fwd: .partial), "pawl; fwd=partial"),
      (.init(fwd: .bypass, detail: "no-store"), "pawl; fwd=bypass; detail=no-store"),
      (.init(fwd: .request, detail: "asked \"so\""), "pawl; fwd=request; detail=\"asked \\\"so\\\"\""),
      (.init(fwd: .method, detail: "1"), "pawl; fwd=method; detail=\"1\""), (.init(), "pawl"),
      (.init(hit: true, ttl: .max), "pawl; hit; ttl=999999999999999"),
      (.init(hit: true, ttl: .min), "pawl; hit; ttl=-999999999999999"),
    ] as [(CacheStatus, String)])
  func value(_ status: CacheStatus, _ text: String) { #expect(status.value.text == text) }

  @Test("a hit was not forwarded") func exclusive() {
    let status = CacheStatus(hit: true, fwd: .miss, fwdStatus: 200, stored: true, collapsed: true)
    #expect(status.value.text == "pawl; hit")
  }

  @Test("comes after those of caches nearer to the origin") func append() {
    var message = fields(("Cache-Status", "origin-cache; hit"))
    CacheStatus(hit: true).append(to: &message)
    #expect(message == fields(("Cache-Status", "origin-cache; hit"), ("Cache-Status", "pawl; hit")))
  }
}
