/// Measures the resources that a process and all its descendants have used, while children start and end.
///
/// When a child ends, its CPU time is added to the parent that waits for it. If the parent never waits, or waits later, the
/// last reading of the child still counts. So the sum never decreases, and nothing counts twice.
package final class ProcessTree: ProcessMeter {
  /// CPU time in nanoseconds.
  private struct Spent: Hashable {
    var total: UInt64 = 0
    var system: UInt64 = 0

    static func + (left: Spent, right: Spent) -> Spent {
      Spent(total: left.total &+ right.total, system: left.system &+ right.system)
    }
    /// The maximum of two readings of the same sum.
    func atLeast(_ other: Spent) -> Spent {
      Spent(total: max(total, other.total), system: max(system, other.system))
    }
  }

  private struct Member {
    let started: UInt64
    var parent: Int32
    var own = Spent()
    /// The CPU time of this process's ended children when the process was first seen. `reaped`: the same in the last reading.
    let reapedBefore: Spent
    var reaped = Spent()
    /// The sum of the last readings of descendants that have ended.
    var owed = Spent()
    var memory: UInt64 = 0

    init(_ status: ProcessStatus) {
      (started, parent) = (status.started, status.parent)
      reapedBefore = Member.reaped(status)
      reaped = reapedBefore
    }

    static func reaped(_ status: ProcessStatus) -> Spent {
      Spent(
        total: ProcessFolder.nanoseconds(ticks: status.reapedUser &+ status.reapedSystem),
        system: ProcessFolder.nanoseconds(ticks: status.reapedSystem))
    }

    /// All CPU time that counts for this process.
    var spent: Spent { own + reaped.atLeast(reapedBefore + owed) }
  }

  private let folder: ProcessFolder
  private let root: Int32
  private var members: [Int32: Member] = [:]
  /// The CPU time of processes that ended after all of their ancestors.
  private var lost = Spent()

  /// - Throws: ``ProcessError`` if there is no such process.
  package init(pid: Int32, folder: ProcessFolder = ProcessFolder()) throws(ProcessError) {
    (root, self.folder) = (pid, folder)
    guard pid > 0, try refresh() else { throw .noSuchProcess(pid: pid) }
  }

  package func read() -> ProcessReading? {
    do {
      guard try refresh() else { return nil }
    } catch {
      return nil  // If a file is malformed, the process counts as ended.
    }
    let spent = members.values.reduce(lost) { $0 + $1.spent }
    return ProcessReading(
      processes: members.count, user: Double(spent.total - min(spent.total, spent.system)) / 1e9,
      system: Double(spent.system) / 1e9, memory: members.values.reduce(0) { $0 &+ $1.memory })
  }

  /// Reads all processes. Returns `false` if the first process has ended, or if its number belongs to another process now.
  private func refresh() throws(ProcessError) -> Bool {
    let before = members
    var now: [Int32: Member] = [:]
    try visit(root, before, &now)
    guard now[root] != nil, before[root] == nil || before[root]?.started == now[root]?.started else { return false }
    // Processes whose parent has ended are not found as children any more, but they still count.
    for (pid, member) in before where now[pid] == nil { try visit(pid, before, &now, as: member.started) }
    countEnded(before, &now)
    members = now
    return true
  }

  /// Reads a process and its descendants, each parent before its children. If a child ends between the two reads, its time is
  /// missing in this reading. In the other order it could count twice: as its own time and in its parent's.
  private func visit(
    _ pid: Int32, _ before: [Int32: Member], _ now: inout [Int32: Member], as started: UInt64? = nil
  ) throws(ProcessError) {
    guard now[pid] == nil, let status = try folder.status(of: pid) else { return }
    guard started == nil || started == status.started else { return }
    var member = before[pid].flatMap { $0.started == status.started ? $0 : nil } ?? Member(status)
    member.parent = status.parent
    member.reaped = member.reaped.atLeast(Member.reaped(status))
    let system = ProcessFolder.nanoseconds(ticks: status.system)
    member.own = member.own.atLeast(Spent(total: folder.cpu(of: pid, status), system: system))
    member.memory = folder.memory(of: pid, status)
    now[pid] = member
    for child in folder.children(of: pid) { try visit(child, before, &now) }
  }

  /// Adds the time of each ended process to its nearest ancestor that still runs.
  private func countEnded(_ before: [Int32: Member], _ now: inout [Int32: Member]) {
    for (pid, member) in before where now[pid]?.started != member.started {
      var heir = member.parent
      while let ancestor = before[heir], now[heir]?.started != ancestor.started { heir = ancestor.parent }
      if before[heir] != nil, let owed = now[heir]?.owed {
        now[heir]?.owed = owed + member.spent
      } else {
        lost = lost + member.spent
      }
    }
  }
}
