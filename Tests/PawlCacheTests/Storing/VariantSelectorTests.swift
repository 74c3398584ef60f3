import PawlCache
import PawlHTTP
import Testing

@Suite("What chooses among the responses of a URL") struct VariantSelectorTests {
  private typealias Lines = [(FieldName, String)]

  private func request(_ lines: Lines) -> RequestHead {
    var request = RequestHead(method: .get, target: Bytes("/"))
    for (name, value) in lines { request.fields.append(name, value) }
    return request
  }

  private func stored(_ status: Int, _ asked: Lines, _ lines: Lines) -> StoredHead {
    var response = ResponseHead(status: status)
    for (name, value) in lines { response.fields.append(name, value) }
    return StoredHead(
      request: request(asked), response: response, requestTime: 1_700_000_000, responseTime: 1_700_000_000,
      storability: .sharedPerCookie, asksIdentity: false)
  }

  private static let requests: [[(FieldName, String)]] = [
    [], [(.cookie, "")], [(.cookie, "a=1")], [(.cookie, "a=2")], [(.cookie, "a=1"), (.cookie, "b=2")],
    [(.userAgent, "x")], [(.userAgent, "y")], [(.userAgent, "x"), (.cookie, "a=1")], [(.acceptLanguage, "de, en;q=1")],
    [(.acceptLanguage, "EN,de")], [(.acceptEncoding, "gzip")],
    [(.accept, "text/html"), (.authorization, "Basic eDp5")],
    [(.userAgent, "x"), (.acceptLanguage, "de")],
  ]

  private static let answers: [(Int, [(FieldName, String)])] = [200, 301, 404, 500].flatMap { status in
    [
      [], [(.cacheControl, "max-age=60")], [(.vary, "User-Agent")], [(.vary, "Accept-Language, User-Agent")],
      [(.vary, "Cookie"), (.cacheControl, "public")], [(.vary, "Accept-Encoding")], [(.contentEncoding, "gzip")],
    ].map { (status, $0) }
  }

  @Test("whatever a request selects has its values", arguments: answers)
  func findsAll(_ answer: (Int, [(FieldName, String)])) {
    for asked in Self.requests {
      let head = stored(answer.0, asked, answer.1)
      let (selector, values) = head.selector
      for lines in Self.requests {
        for asksIdentity in [false, true] {
          let request = request(lines)
          guard head.isSelected(by: request, asksIdentity: asksIdentity, asSent: { request.fields }) else { continue }
          #expect(selector.values(of: request, asksIdentity: asksIdentity) { request.fields } == values)
        }
      }
    }
  }

  @Test("those that differ in values alone have one selector")
  func selectors() {
    let fields: [(FieldName, String)] = [(.vary, "User-Agent"), (.cacheControl, "max-age=60")]
    let one = stored(200, [(.userAgent, "x")], fields).selector
    let other = stored(200, [(.userAgent, "y"), (.cookie, "a=1")], fields).selector
    #expect(one.selector == other.selector && one.values != other.values)
    let error = stored(500, [(.userAgent, "x")], fields).selector
    #expect(error.selector != one.selector)
  }
}
