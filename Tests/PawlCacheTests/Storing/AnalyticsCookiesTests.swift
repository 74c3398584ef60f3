import PawlCache
import Testing

@Suite("Cookies of web analytics") struct AnalyticsCookiesTests {
  @Test("none of the patterns matches a name that any application may give")
  func narrow() {
    for name in ["", "_", "s", "sid", "id", "user", "_session", "__Host-session", "mp_", "_hj", "_ym", "AMP", "cb"] {
      #expect(!AnalyticsCookies.globs.contains { $0.matches(Array(name.utf8)[...]) }, "\(name)")
    }
  }
}
