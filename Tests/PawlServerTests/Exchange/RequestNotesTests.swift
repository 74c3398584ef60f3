import PawlObserve
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Explanations of requests") struct RequestNotesTests {
  @Test("a miss and a hit are explained in one line each")
  func missAndHit() throws {
    let pawl = try TestServer.fresh(for: 1000)
    #expect(pawl.get().text == "1")
    pawl.waitFor("request-explained", count: 2)
    #expect(
      pawl.events("request-explained") == [
        "debug request-explained request=r method=GET host=site target=/f route=default way=\"a download through the cache\" "
          + "key=\"site /f\" found=nothing does=\"asks the origin (uri-miss)\" store=\"for all requests\" "
          + "resumable=\"by a replay that is compared: it has no strong validator (RFC 9110 §8.8.1)\" cache=miss status=200",
        "debug request-explained request=- method=GET host=site target=/f route=default way=\"the short way of cached hits\" "
          + "found=\"complete, at hand and fresh (RFC 9111 §4.2)\" does=\"serves the stored response\" cache=hit status=200",
      ])
    pawl.stop()
  }

  @Test("what keeps a response from being stored is named with its rule")
  func notStored() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [.expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 1\r\n\r\n1"), .readToEnd])
    let pawl = try TestServer(origin)
    #expect(pawl.get().text == "1")
    pawl.waitFor("request-explained")
    #expect(
      pawl.events("request-explained")[0].contains(
        "store=\"no: the response has Cache-Control: no-store (RFC 9111 §5.2.2.5)\""))
    pawl.stop()
  }

  @Test("a request keeps so many notes, and no more")
  func limit() {
    let notes = RequestNotes()
    for number in 0..<RequestNotes.limit { notes.add("n", "\(number)") }
    #expect(notes.fields.count == RequestNotes.limit)
    notes.add("n", "one more")
    #expect(notes.fields.count == RequestNotes.limit)
    #expect(notes.fields.last?.value == "\(RequestNotes.limit - 1)")
  }
}
