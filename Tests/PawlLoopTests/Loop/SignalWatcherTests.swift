import CLinux
import Testing

@testable import PawlLoop

@Suite("Signal watcher", .timeLimit(.minutes(1))) struct SignalWatcherTests {
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
}
