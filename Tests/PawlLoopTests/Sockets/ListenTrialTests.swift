import CLinux
import PawlTestKit
import Testing

@testable import PawlLoop

@Suite("Trying to listen") struct ListenTrialTests {
  private func failure(_ text: String) throws -> LoopError? {
    ListenTrial.failure(try #require(SocketAddress.parse(text)))
  }

  @Test("an address that is free stays free")
  func free() throws {
    let port = try bindSocket(try #require(SocketAddress.parse("127.0.0.1:0"))).port
    for _ in 0..<2 { #expect(try failure("127.0.0.1:\(port)") == nil) }
  }

  @Test("an address that is in use, or of another machine, is told")
  func taken() throws {
    let socket = try bindSocket(try #require(SocketAddress.parse("127.0.0.1:0")))
    #expect(listen(socket.raw, 1) == 0)
    let address = "127.0.0.1:\(socket.port)"
    #expect(try failure(address) == .addressInUse(try #require(SocketAddress.parse(address))))
    let other = try #require(SocketAddress.parse("192.0.2.1:80"))
    #expect(try failure("192.0.2.1:80") == .addressNotAvailable(other))
  }

  @Test(
    "an address is of this machine, whatever is in use of it",
    arguments: [("127.0.0.1:1", true), ("192.0.2.1:1", false)])
  func ofThisMachine(_ text: String, _ expected: Bool) throws {
    #expect(ListenTrial.isOfThisMachine(try #require(SocketAddress.parse(text))) == expected)
  }

  @Test("a unix socket on which nobody listens is free, and stays there")
  func unix() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/x.sock"
    let address = try #require(SocketAddress.unix(path: path))
    #expect(ListenTrial.failure(address) == nil)
    #expect(access(path, F_OK) != 0)
    let socket = try bindSocket(address)
    #expect(ListenTrial.failure(address) == nil)
    #expect(access(path, F_OK) == 0)
    #expect(listen(socket.raw, 1) == 0)
    #expect(ListenTrial.failure(address) == .addressInUse(address))
    let file = try #require(SocketAddress.unix(path: folder.path))
    #expect(ListenTrial.failure(file) == .addressInUse(file))
  }
}

extension OwnedDescriptor {
  fileprivate var port: UInt16 { socketAddress(raw, pawl_getsockname)?.port ?? 0 }
}
