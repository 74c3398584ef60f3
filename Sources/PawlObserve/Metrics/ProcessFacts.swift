import CLinux

/// What the kernel says of this process, under the names that the clients of Prometheus use. Reading takes system calls and
/// files of `/proc`; a file that cannot be read leaves its metrics out.
package struct ProcessFacts: Sendable {
  package var cpuMicroseconds: UInt64?
  package var residentBytes: UInt64?
  package var virtualBytes: UInt64?
  package var openDescriptors: Int?
  package var maxDescriptors: UInt64?
  /// Seconds since 1970.
  package var startTime: UInt64?

  package init() {}

  /// Reads the facts of this process.
  package static func read() -> ProcessFacts {
    var facts = ProcessFacts()
    var usage = rusage()
    if getrusage(RUSAGE_SELF, &usage) == 0 {
      let times = [usage.ru_utime, usage.ru_stime]
      facts.cpuMicroseconds = times.reduce(0) { $0 + UInt64($1.tv_sec) * 1_000_000 + UInt64($1.tv_usec) }
    }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      facts.maxDescriptors = UInt64(limit.rlim_cur)
    }
    facts.openDescriptors = entries(of: "/proc/self/fd").map { max(0, $0 - 1) }
    let ticks = UInt64(max(1, sysconf(CInt(_SC_CLK_TCK))))
    facts.take(
      stat: content(of: "/proc/self/stat") ?? "", pageSize: UInt64(max(1, getpagesize())), ticksPerSecond: ticks,
      bootTime: bootTime(in: content(of: "/proc/stat") ?? ""))
    return facts
  }

  /// Takes the fields of `/proc/self/stat` (proc(5)). The name of the program, in parentheses, may have blanks.
  mutating func take(stat: String, pageSize: UInt64, ticksPerSecond: UInt64, bootTime: UInt64?) {
    guard let end = stat.lastIndex(of: ")") else { return }
    // The fields from the third one on.
    let fields = stat[stat.index(after: end)...].split(whereSeparator: { $0 == " " || $0 == "\n" })
    guard fields.count > 21 else { return }
    virtualBytes = UInt64(fields[20])
    residentBytes = UInt64(fields[21]).map { $0 * pageSize }
    if let bootTime, let start = UInt64(fields[19]) { startTime = bootTime + start / ticksPerSecond }
  }

  static func bootTime(in stat: String) -> UInt64? {
    stat.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { UInt64($0.dropFirst(6)) }
  }

  private static func entries(of path: String) -> Int? {
    guard let directory = opendir(path) else { return nil }
    defer { closedir(directory) }
    var count = 0
    while let entry = readdir(directory) {
      if entry.pointee.d_name.0 != 0x2e { count += 1 }
    }
    return count
  }

  /// Returns the beginning of a file of `/proc`, at most 64 KiB.
  private static func content(of path: String) -> String? {
    let descriptor = pawl_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var (bytes, filled) = ([UInt8](repeating: 0, count: 64 << 10), 0)
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        CLinux.read(descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
      }
      guard count > 0 else { break }
      filled += count
    }
    return String(decoding: bytes[..<filled], as: UTF8.self)
  }
}

extension MetricsSnapshot {
  package mutating func add(_ facts: ProcessFacts) {
    if let time = facts.cpuMicroseconds { add(.processCPU, .microseconds(time)) }
    if let bytes = facts.residentBytes { add(.processMemory, .count(bytes)) }
    if let bytes = facts.virtualBytes { add(.processVirtual, .count(bytes)) }
    if let count = facts.openDescriptors { add(.processDescriptors, [], count: count) }
    if let count = facts.maxDescriptors { add(.processDescriptorLimit, .count(count)) }
    if let time = facts.startTime { add(.processStart, .count(time)) }
  }
}
