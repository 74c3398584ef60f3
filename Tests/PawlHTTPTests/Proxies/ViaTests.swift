import PawlHTTP
import Testing

@Suite("Via (RFC 9110 §7.6.3)") struct ViaTests {
  @Test("pawl comes last") func append() {
    var message = fields(("Via", "1.0 fred"))
    Via.append(to: &message, version: .http11)
    Via.append(to: &message, version: .http10)
    #expect(message == fields(("Via", "1.0 fred"), ("Via", "1.1 pawl"), ("Via", "1.0 pawl")))
    #expect(Via.occurrences(of: Via.pseudonym, in: message) == 2)
  }

  @Test(
    "counts entries by name",
    arguments: [
      (fields(), 0), (fields(("Via", "1.1 pawl")), 1), (fields(("Via", "1.1 PAWL")), 1),
      (fields(("Via", "HTTP/1.1 pawl")), 1),
      (fields(("Via", "1.1 pawl, 1.0 fred, 1.1 pawl")), 2), (fields(("Via", "1.1 pawl"), ("via", "2 pawl (x)")), 2),
      (fields(("Via", "1.1\t pawl(comment)")), 1), (fields(("Via", "1.1 pawl2, 1.1 notpawl, pawl, 1.1 x pawl")), 0),
      (fields(("Via", "1.1 fred (pawl)")), 0), (fields(("Via", "")), 0), (fields(("X-Via", "1.1 pawl")), 0),
    ] as [(Fields, Int)])
  func occurrences(_ fields: Fields, _ count: Int) { #expect(Via.occurrences(of: "pawl", in: fields) == count) }

  @Test(
    "counts passages by Via and by CDN-Loop (RFC 8586) together",
    arguments: [
      (fields(), 0), (fields(("CDN-Loop", "pawl")), 1), (fields(("cdn-loop", "PAWL")), 1),
      (fields(("CDN-Loop", "pawl, other, pawl")), 2), (fields(("CDN-Loop", "pawl"), ("CDN-Loop", "pawl")), 2),
      (fields(("CDN-Loop", "pawl; v=1;x=\"a\", pawl ;y")), 2), (fields(("Via", "1.1 pawl"), ("CDN-Loop", "pawl")), 2),
      (fields(("CDN-Loop", "pawl2, other; by=pawl, pawl.example, ;pawl")), 0), (fields(("CDN-Loop", "")), 0),
      (fields(("X-CDN-Loop", "pawl")), 0),
    ] as [(Fields, Int)])
  func passages(_ fields: Fields, _ count: Int) { #expect(Via.passages(in: fields) == count) }

  @Test("the loop mark stands behind those of others") func loopMark() {
    var message = fields(("CDN-Loop", "other"))
    Via.appendLoopMark(to: &message)
    #expect(message == fields(("CDN-Loop", "other"), ("CDN-Loop", "pawl")))
  }
}
