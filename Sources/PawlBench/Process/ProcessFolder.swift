import CLinux

/// The files of `/proc` with the resource use of processes.
package struct ProcessFolder: Sendable {
  /// Clock ticks a second in `/proc/PID/stat`.
  static let ticks = UInt64(max(1, sysconf(CInt(_SC_CLK_TCK))))
  private static let pageSize = UInt64(max(1, sysconf(CInt(_SC_PAGESIZE))))

  private let path: String
  /// Returns the CPU time of a process in nanoseconds, of all its threads, ended ones included; `nil` if the process has ended.
  private let clock: @Sendable (Int32) -> UInt64?

  package init() { self.init(path: "/proc", clock: Self.processClock) }

  /// Reads another folder and another clock. For tests only.
  init(path: String, clock: @escaping @Sendable (Int32) -> UInt64?) { (self.path, self.clock) = (path, clock) }

  /// Returns the status of a process; `nil` if there is no such process.
  func status(of pid: Int32) throws(ProcessError) -> ProcessStatus? {
    let name = "\(path)/\(pid)/stat"
    guard let text = contents(name) else { return nil }
    guard let status = ProcessStatus(text) else {
      throw .unreadable(path: name, reason: "is not what the kernel writes")
    }
    return status
  }

  /// Returns the CPU time in user and in kernel mode together, in nanoseconds. The kernel's clock of the process is exact. `stat`
  /// has a precision of a hundredth of a second, and is used if the clock cannot be read.
  func cpu(of pid: Int32, _ status: ProcessStatus) -> UInt64 {
    max(clock(pid) ?? 0, Self.nanoseconds(ticks: status.user &+ status.system))
  }

  static func nanoseconds(ticks: UInt64) -> UInt64 {
    ticks.multipliedReportingOverflow(by: 1_000_000_000 / Self.ticks).0
  }

  /// Returns the memory in bytes: the proportional share (`Pss`), in which shared pages count once. Returns the resident size if
  /// the kernel does not give `Pss` (another user's process, or a kernel without `smaps_rollup`).
  func memory(of pid: Int32, _ status: ProcessStatus) -> UInt64 {
    if let text = contents("\(path)/\(pid)/smaps_rollup"), let share = Self.proportionalShare(text) { return share }
    return status.residentPages &* Self.pageSize
  }

  private static func proportionalShare(_ text: [UInt8]) -> UInt64? {
    let name = Array("Pss:".utf8)
    guard let line = text.split(separator: 0x0a).first(where: { $0.starts(with: name) }) else { return nil }
    let words = line.split(separator: 0x20)
    guard words.count == 3, let kibibytes = UInt64(String(decoding: words[1], as: UTF8.self)) else { return nil }
    return kibibytes &* 1024
  }

  /// Returns the children of all threads of a process, ended children that were not waited for included.
  func children(of pid: Int32) -> [Int32] {
    let tasks = numbers(in: "\(path)/\(pid)/task")
    return tasks.flatMap { task -> [Int32] in
      let text = contents("\(path)/\(pid)/task/\(task)/children") ?? []
      return text.split(separator: 0x20).compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }
  }

  private func numbers(in folder: String) -> [Int32] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var numbers: [Int32] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if let number = Int32(name) { numbers.append(number) }
    }
    return numbers
  }

  /// Reads a file; `nil` if the file cannot be opened or read, for example because the process has ended.
  private func contents(_ name: String) -> [UInt8]? {
    let descriptor = pawl_open(name, O_RDONLY, 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, pawl_errno() == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  private static func processClock(_ pid: Int32) -> UInt64? {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
    return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
  }
}
