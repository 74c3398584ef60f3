import CLinux
import Testing

@testable import PawlLoop

@Suite("What the process is given", .timeLimit(.minutes(1))) struct ProcessTests {
  @Test("the limit of descriptors is raised to the hard one, and stays")
  func raisesLimit() throws {
    let first = try DescriptorLimit.raise()
    #expect(first > 0)
    #expect(try DescriptorLimit.raise() == first)
  }

  @Test("random octets come in any number and differ")
  func randomness() {
    #expect(Randomness.bytes(0) == [])
    #expect(Randomness.bytes(1000).count == 1000)
    #expect(Randomness.bytes(16) != Randomness.bytes(16))
    #expect(Randomness.uint64() != Randomness.uint64())
  }

  @Test("an owned descriptor is closed once, or handed on")
  func ownsDescriptor() throws {
    let (a, b) = try socketPair()
    do { _ = OwnedDescriptor(adopting: a) }
    var octet: UInt8 = 0
    #expect(recv(b, &octet, 1, 0) == 0)
    let kept = OwnedDescriptor(adopting: b).release()
    #expect(kept == b && isOpen(b))
    close(b)
  }

  @Test("a locked value counts right from several threads")
  func locks() throws {
    let count = Locked(0)
    var threads: [LoopThread] = []
    for _ in 0..<4 {
      threads.append(try LoopThread(name: "counter") { for _ in 0..<10_000 { count.withLock { $0 += 1 } } })
    }
    for thread in threads { thread.join() }
    threads[0].join()
    #expect(count.withLock { $0 } == 40_000)
  }

  @Test("a signal reaches the loop that watches for it, until the watcher is closed")
  func watchesSignals() throws {
    let loop = try EventLoop(index: 0)
    var seen: [CInt] = []
    let watcher = try SignalWatcher(loop, [SIGUSR1, SIGUSR2]) { seen.append($0) }
    kill(getpid(), SIGUSR1)
    wait(loop) { seen == [SIGUSR1] }
    kill(getpid(), SIGUSR2)
    wait(loop) { seen == [SIGUSR1, SIGUSR2] }
    watcher.close()
  }

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
