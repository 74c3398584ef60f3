import CLinux
import PawlBase
import Testing

@testable import PawlLoop

@Suite("Thread", .timeLimit(.minutes(1))) struct LoopThreadTests {
  @Test("has its name, cut to what the kernel takes, and no signals of the process")
  func isSetUp() throws {
    let noted = Locked(("", [CInt]()))
    let thread = try LoopThread(name: "pawl-a-rather-long-name") {
      var name = [CChar](repeating: 0, count: 16)
      pthread_getname_np(pthread_self(), &name, name.count)
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let open = [SIGTERM, SIGHUP, SIGUSR1, SIGSEGV, SIGBUS].filter { sigismember(&mask, $0) == 0 }
      noted.withLock { $0 = (text, open) }
    }
    thread.join()
    let (name, open) = noted.withLock { $0 }
    #expect(name == "pawl-a-rather-l")
    #expect(open == [SIGSEGV, SIGBUS])
  }

  @Test("leaves the signals of the thread that starts it as they were")
  func restoresSignals() throws {
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &before)
    let thread = try LoopThread(name: "short") {}
    var after = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &after)
    thread.join()
    for signal in 1..<CInt(32) { #expect(sigismember(&before, signal) == sigismember(&after, signal)) }
  }

  @Test("may end without being joined")
  func detaches() throws {
    let isDone = Gate()
    _ = try LoopThread(name: "loose") { isDone.open() }
    isDone.wait()
  }
}
