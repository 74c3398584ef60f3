import CLinux
import PawlHTTP
import PawlLoop
import Testing

@testable import PawlUpstream

@Suite("What of a request is still to go out") struct RequestOutputTests {
  private let head = RequestHead(method: .put, target: Bytes("/"), authority: Bytes("site"), framing: .length(5))

  private func append(_ text: String, _ output: inout RequestOutput) throws -> RequestOutput.FlushResult {
    let bytes = Array(text.utf8)
    var result: Result<RequestOutput.FlushResult, RequestOutput.Misuse> = .success(.drained)
    bytes.withUnsafeBytes { bytes in
      do throws(RequestOutput.Misuse) {
        result = .success(try output.append(bytes, to: nil))
      } catch {
        result = .failure(error)
      }
    }
    return try result.get()
  }

  @Test("content waits for the head, then follows it")
  func early() throws {
    let loop = try EventLoop(index: 0)
    var ends: [CInt] = [-1, -1]
    #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let stream = SocketStream(adopting: ends[0], loop: loop)
    var output = RequestOutput(.length(5))
    #expect(try append("hello", &output) == .blocked)
    #expect(!output.isSent)
    output.connect(head)
    let result = output.flush(stream)
    #expect(result == .drained)
    #expect(output.isSent)
    var buffer = [UInt8](repeating: 0, count: 100)
    let count = recv(ends[1], &buffer, buffer.count, 0)
    #expect(Bytes(buffer[..<count]).text == "PUT / HTTP/1.1\r\nHost: site\r\nContent-Length: 5\r\n\r\nhello")
    #expect(output.sentOnConnection == UInt64(count))
    close(ends[1])
  }

  @Test("more and less than announced is refused")
  func misuse() throws {
    var output = RequestOutput(.length(5))
    #expect(throws: RequestOutput.Misuse.tooMuch) { try append("hello!", &output) }
    _ = try append("hell", &output)
    #expect(throws: RequestOutput.Misuse.tooLittle) { try output.finish(Fields(), to: nil) }
    _ = try append("o", &output)
    #expect(throws: RequestOutput.Misuse.tooMuch) { try append("!", &output) }
    #expect(try output.finish(Fields(), to: nil) == .blocked)
  }

  @Test("what was stopped takes and sends nothing more")
  func stopped() throws {
    var output = RequestOutput(.chunked)
    _ = try append("hello", &output)
    output.stop()
    #expect(output.pendingCount == 0)
    #expect(try append("more", &output) == .drained)
    #expect(!output.takesBody)
    #expect(!output.isSent)
  }

  @Test("a lost connection is forgotten as long as no content was taken")
  func disconnects() {
    var output = RequestOutput(.length(5))
    output.connect(head)
    output.stop()
    output.disconnect()
    #expect(output.takesBody)
    #expect(output.pendingCount == 0)
    output.connect(head)
    #expect(output.pendingCount == "PUT / HTTP/1.1\r\nHost: site\r\nContent-Length: 5\r\n\r\n".utf8.count)
  }

  @Test("nothing to send is complete at once", arguments: [BodyFraming.none, .length(0)])
  func empty(_ framing: BodyFraming) {
    #expect(!RequestOutput(framing).takesBody)
  }
}
