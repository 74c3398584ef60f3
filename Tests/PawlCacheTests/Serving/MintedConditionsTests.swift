import PawlCache
import PawlHTTP
import Testing

@Suite("What conditions on pawl's own tags become at the origin") struct MintedConditionsTests {
  /// `pawl-s` names a body with a strong tag, `pawl-w` one with a weak one, `pawl-d` one with a date; others name none.
  private static func known(_ tag: EntityTag) -> MintedConditions.Known? {
    switch String(decoding: tag.opaque, as: UTF8.self) {
    case "pawl-s": .init(tag: EntityTag(Bytes("\"strong\"")))
    case "pawl-w": .init(tag: EntityTag(Bytes("W/\"weak\"")))
    case "pawl-d": .init(tag: nil, modified: Array("then".utf8))
    case "pawl-n": .init(tag: nil)
    default: nil
    }
  }

  private static func shown(_ fields: Fields?) -> [String]? {
    fields.map { fields in
      fields.lines.map { line in
        "\(String(decoding: fields.name(line), as: UTF8.self)): \(String(decoding: fields.value(line), as: UTF8.self))"
      }.sorted()
    }
  }

  @Test(
    "of unsafe methods: a strong validator in If-Match or 412, and never a weaker condition",
    arguments: [
      (["If-Match: \"pawl-s\""], ["If-Match: \"strong\""]), (["If-Match: \"pawl-w\""], nil),
      (["If-Match: \"pawl-d\""], nil), (["If-Match: \"pawl-n\""], nil), (["If-Match: \"pawl-x\""], nil),
      (["If-Match: \"pawl-x\", \"a\""], ["If-Match: \"a\""]), (["If-Match: *"], ["If-Match: *"]),
      (["If-Match: \"pawl-w\", \"pawl-s\""], ["If-Match: \"strong\""]), (["If-Match: \"a\""], ["If-Match: \"a\""]),
      (["If-None-Match: \"pawl-s\""], ["If-None-Match: \"strong\""]),
      (["If-None-Match: \"pawl-w\""], ["If-None-Match: W/\"weak\""]), (["If-None-Match: \"pawl-d\""], nil),
      (["If-None-Match: \"pawl-x\", \"a\""], nil),
      (["If-None-Match: \"a\", \"pawl-s\""], ["If-None-Match: \"a\", \"strong\""]),
      (["If-None-Match: *"], ["If-None-Match: *"]),
      (["If-Match: \"pawl-s\"", "If-None-Match: \"pawl-x\""], nil),
      (["If-Match: \"pawl-s\"", "If-Unmodified-Since: a"], ["If-Match: \"strong\"", "If-Unmodified-Since: a"]),
    ] as [([String], [String]?)])
  func unsafe(_ lines: [String], _ expected: [String]?) {
    #expect(Self.shown(MintedConditions.ofUnsafe(Messages.fields(lines), known: Self.known)) == expected)
  }

  @Test(
    "of GET and HEAD: the validator of that body, or nothing, the date beside it included",
    arguments: [
      (["If-None-Match: \"pawl-s\""], ["If-None-Match: \"strong\""]),
      (["If-None-Match: \"pawl-w\""], ["If-None-Match: W/\"weak\""]),
      (["If-None-Match: W/\"pawl-w\""], ["If-None-Match: W/\"weak\""]),
      (["If-None-Match: \"pawl-d\""], ["If-Modified-Since: then"]), (["If-None-Match: \"pawl-n\""], []),
      (["If-None-Match: \"pawl-x\"", "If-Modified-Since: a"], []),
      (["If-None-Match: \"pawl-s\"", "If-Modified-Since: a"], ["If-Modified-Since: a", "If-None-Match: \"strong\""]),
      (["If-None-Match: \"pawl-x\", \"a\""], ["If-None-Match: \"a\""]),
      (["If-None-Match: \"a\"", "If-Modified-Since: a"], ["If-Modified-Since: a", "If-None-Match: \"a\""]),
      (["If-None-Match: *"], ["If-None-Match: *"]), (["If-Modified-Since: a"], ["If-Modified-Since: a"]),
    ])
  func retrieval(_ lines: [String], _ expected: [String]) {
    #expect(Self.shown(MintedConditions.ofRetrieval(Messages.fields(lines), known: Self.known)) == expected)
  }

  @Test(
    "are there only where a tag of pawl's own is named",
    arguments: [
      (["If-Match: \"pawl-s\""], true), (["If-None-Match: \"a\", W/\"pawl-s\""], true), (["If-Match: \"a\""], false),
      (["If-Match: pawl-s"], false), (["If-Range: \"pawl-s\""], false), ([], false), (["If-Match: *"], false),
    ])
  func there(_ lines: [String], _ expected: Bool) {
    #expect(MintedConditions.areThere(in: Messages.fields(lines)) == expected)
  }
}
