import CLinux
import PawlLoop
import Testing

@testable import PawlUpstream

@Suite("An origin connection between exchanges") struct OriginConnectionTests {
  private func pair(_ loop: EventLoop) -> (SocketStream, CInt) {
    var ends: [CInt] = [-1, -1]
    #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
    return (SocketStream(adopting: ends[0], loop: loop), ends[1])
  }

  @Test("is quiet only while nothing has come", arguments: ["nothing", "bytes", "end"])
  func quiet(_ what: String) throws {
    let loop = try EventLoop(index: 0)
    let (stream, other) = pair(loop)
    let connection = OriginConnection(stream: stream, url: 0, usableUntil: nil)
    switch what {
    case "bytes": write(other, "x", 1)
    case "end": shutdown(other, CInt(SHUT_WR))
    default: break
    }
    #expect(connection.isQuiet() == (what == "nothing"))
    close(other)
  }

  @Test("is usable until its time, and not when closed")
  func usable() throws {
    let loop = try EventLoop(index: 0)
    let (stream, other) = pair(loop)
    let end = Monotonic(nanoseconds: 1000)
    let named = OriginConnection(stream: stream, url: 0, usableUntil: end)
    let literal = OriginConnection(stream: stream, url: 0, usableUntil: nil)
    #expect(named.isUsable(at: Monotonic(nanoseconds: 999)))
    #expect(!named.isUsable(at: end))
    #expect(literal.isUsable(at: Monotonic(nanoseconds: .max)))
    stream.close()
    #expect(!literal.isUsable(at: end))
    close(other)
  }
}
