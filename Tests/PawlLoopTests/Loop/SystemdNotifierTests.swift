import CLinux
import Testing

@testable import PawlLoop

@Suite("Service manager notification", .timeLimit(.minutes(1))) struct SystemdNotifierTests {
  @Test("the service manager is told over its socket, by path and by abstract name", arguments: [false, true])
  func notifiesSystemd(_ isAbstract: Bool) throws {
    let folder = try TemporaryFolder()
    let name = isAbstract ? "@pawl-\(Randomness.uint64())" : "\(folder.path)/socket"
    let address = try #require(SocketAddress.unix(path: name))
    let receiver = OwnedDescriptor(adopting: socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0))
    try #require(address.withSockaddr { pawl_bind(receiver.raw, $0, $1) } == 0)
    #expect(try SystemdNotifier.notify("READY=1\nSTATUS=serving", socket: name))
    var buffer = [UInt8](repeating: 0, count: 100)
    let count = recv(receiver.raw, &buffer, buffer.count, 0)
    #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "READY=1\nSTATUS=serving")
  }

  @Test(
    "the watchdog's time is that of this process",
    arguments: [
      ("2000000", "7", 2000), ("2000000", nil, 2000), ("2000000", "8", nil), (nil, "7", nil), ("0", nil, nil),
      ("x", nil, nil),
    ] as [(String?, String?, Int?)])
  func watchdog(_ usec: String?, _ pid: String?, _ milliseconds: Int?) {
    let time = SystemdNotifier.watchdog({ $0 == "WATCHDOG_USEC" ? usec : pid }, pid: 7)
    #expect(time == milliseconds.map { .milliseconds($0) })
  }

  @Test("a reload is told with the time of the monotonic clock in microseconds")
  func reloading() {
    let clock = ManualClock()
    #expect(
      SystemdNotifier.reloading(at: clock) == "RELOADING=1\nMONOTONIC_USEC=\(clock.now().nanoseconds / 1000)")
  }

  @Test("without a service manager nothing is told; one that has gone is an error")
  func reportsMissingManager() throws {
    #expect(try !SystemdNotifier.notify("READY=1", socket: ""))
    #expect(throws: LoopError.system(call: "sendto NOTIFY_SOCKET", code: ENOENT)) {
      try SystemdNotifier.notify("READY=1", socket: "/nonexistent/notify")
    }
    #expect(throws: LoopError.system(call: "NOTIFY_SOCKET", code: EAFNOSUPPORT)) {
      try SystemdNotifier.notify("READY=1", socket: "vsock:2:1234")
    }
  }
}
