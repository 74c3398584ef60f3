import PawlCache
import PawlHTTP
import Testing

@Suite("Directives that count (RFC 9213)") struct ResponseDirectivesTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var fields: [String]
    var isTargeted = false
    var lifetime: Int64?
    var isForEverybody: Bool
    var testDescription: String { "\(fields)" }
  }

  @Test(
    "say how long a response is fresh, and whether it is for everybody",
    arguments: [
      Row(fields: [], lifetime: nil, isForEverybody: false),
      Row(fields: ["Cache-Control: max-age=5"], lifetime: 5, isForEverybody: true),
      Row(fields: ["Cache-Control: max-age=0"], lifetime: 0, isForEverybody: false),
      Row(fields: ["Cache-Control: max-age=0, s-maxage=5"], lifetime: 5, isForEverybody: true),
      Row(fields: ["Cache-Control: public"], lifetime: nil, isForEverybody: true),
      Row(fields: [Messages.dated("Expires", 5)], lifetime: 5, isForEverybody: true),
      Row(fields: [Messages.dated("Expires", -5)], lifetime: 0, isForEverybody: false),
      Row(fields: ["Expires: 0"], lifetime: 0, isForEverybody: false),
      Row(fields: [Messages.dated("Last-Modified", -500)], lifetime: nil, isForEverybody: false),
      Row(
        fields: ["CDN-Cache-Control: max-age=5", "Cache-Control: max-age=9"], isTargeted: true, lifetime: 5,
        isForEverybody: true),
      Row(
        fields: ["CDN-Cache-Control: foo", "Cache-Control: public", Messages.dated("Expires", 5)], isTargeted: true,
        lifetime: nil, isForEverybody: false),
      Row(fields: ["CDN-Cache-Control: ", "Cache-Control: max-age=9"], lifetime: 9, isForEverybody: true),
      Row(fields: ["CDN-Cache-Control: max-age=x y", "Cache-Control: max-age=9"], lifetime: 9, isForEverybody: true),
    ])
  func decide(_ row: Row) {
    let fields = Messages.fields(row.fields)
    let directives = ResponseDirectives(fields)
    #expect(directives.isTargeted == row.isTargeted)
    #expect(directives.explicitLifetime(fields, receivedAt: Messages.now) == row.lifetime)
    #expect(directives.meansEverybody(fields, receivedAt: Messages.now) == row.isForEverybody)
  }
}
