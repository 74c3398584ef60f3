import PawlCache
import PawlHTTP
import Testing

@Suite("Which cookies count") struct CookieRulesTests {
  @Test(
    "a pattern matches a name byte for byte, stars any number of bytes",
    arguments: [
      ("sid", "sid", true), ("sid", "SID", false), ("sid", "sid2", false), ("sid", "", false), ("_ga_*", "_ga_", true),
      ("_ga_*", "_ga_X1", true), ("_ga_*", "_ga", false), ("*", "", true), ("*", "anything", true),
      ("mp_*_mixpanel", "mp_1_mixpanel", true), ("mp_*_mixpanel", "mp_mixpanel", false),
      ("mp_*_mixpanel", "mp__mixpanel", true), ("a*b*c", "abc", true), ("a*b*c", "a1b2c", true),
      ("a*b*c", "acb", false), ("a*b*c", "ac", false), ("a*aa", "aaa", true), ("a*aa", "aa", false),
      ("*x*", "x", true), ("*x*", "y", false), ("**", "y", true), ("a**b", "ab", true),
    ])
  func globs(_ pattern: String, _ name: String, _ matches: Bool) {
    #expect(CookieGlob(pattern).matches(Bytes(name)) == matches)
  }

  static func counted(_ lines: [String], keyed: [String]? = nil, ignored: [String] = []) -> [String]? {
    let rules = CookieRules(keyed: keyed?.map(CookieGlob.init), ignored: ignored.map(CookieGlob.init))
    let fields = Messages.fields(["Accept: a"] + lines.map { "Cookie: \($0)" } + ["TE: b"])
    return rules.counted(in: fields)?.all(.cookie).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(
    "what does not count is left out; where all counts, the fields stay as they came",
    arguments: [
      (["a=1; b=2"], nil, [], nil), (["a=1;b=2"], nil, ["c"], nil), (["a=1; b=2"], nil, ["b"], ["a=1"]),
      (["b=2"], nil, ["b"], []), (["a=1;b=2 ;  c=3"], nil, ["b"], ["a=1; c=3"]),
      (["a=1", "b=2", "c=3"], nil, ["b"], ["a=1; c=3"]),
      (["a=1; b=2; a=3"], ["a"], [], ["a=1; a=3"]), (["a=1; b=2"], [], [], []), (["a=1; b=2"], ["*"], ["a"], ["b=2"]),
      (["a=1; b=2"], ["a", "b"], ["a"], ["b=2"]), (["a=b=c; d"], ["a"], [], ["a=b=c"]), (["d"], nil, ["d"], nil),
      (["d"], ["d"], [], []), (["=d; a=1"], ["a"], [], ["a=1"]), (["; ;a=1;"], nil, ["b"], nil), ([], [], [], nil),
      (["a=\"1;b=2\""], nil, ["b"], ["a=\"1"]), (["_ga =1; a=1"], nil, ["_ga"], ["a=1"]),
    ] as [([String], [String]?, [String], [String]?)])
  func lines(_ lines: [String], _ keyed: [String]?, _ ignored: [String], _ expected: [String]?) {
    #expect(Self.counted(lines, keyed: keyed, ignored: ignored) == expected)
  }

  @Test(
    "of analytics is what counts visits, not what may choose content",
    arguments: [
      ("_ga", false), ("_ga_ABC123", false), ("_gid", false), ("_pk_id.1.1fff", false), ("_fbp", false),
      ("mp_0f1e_mixpanel", false), ("_hjSessionUser_77", false), ("sessionid", true), ("PHPSESSID", true),
      ("csrftoken", true), ("_gaexp", true), ("_ga2", true), ("optimizelyEndUserId", true), ("hubspotutk", true),
      ("CookieConsent", true), ("lang", true), ("cf_clearance", true), ("__cf_bm", true), ("", true),
    ])
  func analytics(_ name: String, _ counts: Bool) {
    #expect(CookieRules(keyed: nil, ignored: AnalyticsCookies.globs).counts(Bytes(name)) == counts)
  }
}
