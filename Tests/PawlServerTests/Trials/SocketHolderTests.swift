import CLinux
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Who holds an address") struct SocketHolderTests {
  @Test("is found in /proc: this process")
  func own() throws {
    let origin = ScriptedOrigin(.tcp, [.readToEnd])
    let holder = SocketHolder.find(try #require(SocketAddress.parse("127.0.0.1:\(origin.port)")))
    #expect(holder?.process == Int(getpid()))
    #expect(holder?.isServiceManager == false)
    #expect(SocketHolder.find(try #require(SocketAddress.parse("unix:/run/no-such-socket"))) == nil)
  }

  @Test("of TCP, listening sockets of the port count, whatever their address")
  func tcp() {
    let table = """
        sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
         0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0 0 10 0
         1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1 0 100 0 0 10 0
         2: 0100007F:1F90 0100007F:C000 01 00000000:00000000 00:00000000 00000000     0        0 13 1 0 100 0 0 10 0
         3: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 14 1 0 100 0 0 10 0
      broken line
      """
    #expect(SocketHolder.inodesListening(table, port: 8080) == ["11", "12"])
    #expect(SocketHolder.inodesListening("", port: 8080) == [])
  }

  @Test("of unix sockets, the path counts, with blanks in it")
  func unix() {
    let table = """
      Num       RefCount Protocol Flags    Type St Inode Path
      00000000: 00000002 00000000 00010000 0001 01 21 /run/a.sock
      00000000: 00000002 00000000 00010000 0001 01 22 /run/a b.sock
      00000000: 00000002 00000000 00010000 0001 01 23
      """
    #expect(SocketHolder.unixInodes(table, path: "/run/a.sock") == ["21"])
    #expect(SocketHolder.unixInodes(table, path: "/run/a b.sock") == ["22"])
    #expect(SocketHolder.unixInodes(table, path: "/run/c.sock") == [])
  }

  @Test("systemd listens for others", arguments: [(1, "init", true), (2, "systemd", true), (2, "pawl", false)])
  func serviceManager(_ process: Int, _ name: String, _ expected: Bool) {
    #expect(SocketHolder(process: process, name: name).isServiceManager == expected)
  }
}
