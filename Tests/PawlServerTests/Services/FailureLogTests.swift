import PawlDisk
import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Failures that come by the thousand") struct FailureLogTests {
  @Test("are told of once a minute each, and how many there were meanwhile; so many kinds at most")
  func due() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let log = running.server.services.failures
    #expect(log.due("a") == 0 && log.due("a") == nil && log.due("a") == nil && log.due("b") == 0)
    running.clock.advance(by: .seconds(59))
    #expect(log.due("a") == nil)
    running.clock.advance(by: .seconds(1))
    #expect(log.due("a") == 3 && log.due("b") == 0)
    for number in 2..<FailureLog.limit { #expect(log.due("\(number)") == 0) }
    #expect(log.due("one more") == nil)
    running.clock.advance(by: .seconds(60))
    #expect(log.due("one more") == 0)
  }

  @Test("an origin that cannot be reached is told of with the error, the status and a request")
  func origin() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    for _ in 0..<3 { #expect(pawl.get().status == 502) }
    #expect(
      pawl.events("origin-failed").map { $0.replacing(#/why=("[^"]*"|[^ ]*)/#, with: "why=#") } == [
        "warning origin-failed upstream=app error=connection_refused why=# status=502 request=r omitted=0"
      ])
  }

  @Test("an upload that is refused is told of with the limit, or with what the disk said")
  func upload() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1") { changes in
      changes.more = "[spool:default]\nmax-size = 64M\nmax-uploads-per-client = 1"
    }
    func create() -> Answer {
      pawl.ask(
        "POST /f HTTP/1.1\r\nHost: site\r\nX-Request-Id: r\r\nUpload-Draft-Interop-Version: 6\r\n"
          + "Upload-Complete: ?0\r\nContent-Length: 0\r\n\r\n")
    }
    #expect(create().status == 201)
    for _ in 0..<2 { #expect(create().status == 429) }
    #expect(
      pawl.events("upload-refused") == [
        "warning upload-refused upstream=app why=max-uploads-per-client client=127.0.0.1 request=r omitted=0"
      ])
  }
}
