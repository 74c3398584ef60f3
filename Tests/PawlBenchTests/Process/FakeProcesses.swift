import PawlBase
import PawlLoop
import PawlTestKit

@testable import PawlBench

/// A folder that looks like `/proc`, and a clock of CPU time that says what a test wants.
final class FakeProcesses {
  /// Clock ticks, but for `nanoseconds`, which the CPU clock says where it is not `nil`.
  struct Entry {
    var parent: Int32 = 1
    var user = 0
    var system = 0
    var reapedUser = 0
    var reapedSystem = 0
    var nanoseconds: UInt64?
    var pages = 10
    /// KiB.
    var share: Int?
    var children: [Int32] = []
    var started = 100
  }

  let top: TemporaryFolder
  private let clock = Locked<[Int32: UInt64]>([:])
  private var hidden = 0

  init() throws { top = try TemporaryFolder() }

  var folder: ProcessFolder {
    let clock = clock
    return ProcessFolder(path: top.path) { pid in clock.withLock { $0[pid] } }
  }

  func set(_ pid: Int32, _ entry: Entry) {
    end(pid)
    top.make("\(pid)")
    top.make("\(pid)/task")
    top.make("\(pid)/task/\(pid)")
    top.write("\(pid)/task/\(pid)/children", entry.children.map { "\($0) " }.joined())
    top.write("\(pid)/stat", Self.line(pid, entry))
    if let share = entry.share {
      top.write("\(pid)/smaps_rollup", "1-2 ---p 0 0 0 [rollup]\nRss: 9 kB\nPss:    \(share) kB\n")
    }
    clock.withLock { $0[pid] = entry.nanoseconds }
  }

  func spoil(_ pid: Int32) { top.write("\(pid)/stat", "nonsense") }

  func end(_ pid: Int32) {
    clock.withLock { $0[pid] = nil }
    guard !top.read("\(pid)/stat").isEmpty else { return }
    hidden += 1
    top.rename("\(pid)", to: "gone-\(hidden)")
  }

  private static func line(_ pid: Int32, _ entry: Entry) -> String {
    let times = "\(entry.user) \(entry.system) \(entry.reapedUser) \(entry.reapedSystem)"
    return
      "\(pid) (server) S \(entry.parent) 1 1 0 -1 0 0 0 0 0 \(times) 20 0 1 0 \(entry.started) 0 \(entry.pages) 0\n"
  }
}
