/// The fields of `/proc/PID/stat` of one process (proc_pid_stat(5)).
struct ProcessStatus: Hashable, Sendable {
  var parent: Int32
  /// Clock ticks in user and in kernel mode of all threads, ended threads included.
  var user: UInt64
  var system: UInt64
  /// Clock ticks of ended children that were waited for, and of their children.
  var reapedUser: UInt64
  var reapedSystem: UInt64
  /// Clock ticks from the start of the machine to the start of the process. With the process number, this time identifies a
  /// process: the kernel uses numbers again, but not with the same time.
  var started: UInt64
  /// Pages of resident memory.
  var residentPages: UInt64

  /// Parses the file; `nil` if a field is missing or is no number.
  init?(_ text: some Sequence<UInt8>) {
    let bytes = Array(text)
    // The name of the command is in parentheses, and may itself contain spaces and parentheses.
    guard let close = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = bytes[(close + 1)...].split { $0 == 0x20 || $0 == 0x0a }
    func number(_ place: Int) -> UInt64? {
      // `place` is the number of the field in the manual page. The first field after the name is the third.
      let index = place - 3
      guard index < fields.count else { return nil }
      let field = String(decoding: fields[index], as: UTF8.self)
      // `rss` and the times of children are signed in the manual page. Negative values have no meaning, and are read as 0.
      return field.hasPrefix("-") ? 0 : UInt64(field)
    }
    guard let parent = number(4).flatMap(Int32.init(exactly:)), let user = number(14), let system = number(15),
      let reapedUser = number(16), let reapedSystem = number(17), let started = number(22), let pages = number(24)
    else { return nil }
    (self.parent, self.user, self.system) = (parent, user, system)
    (self.reapedUser, self.reapedSystem) = (reapedUser, reapedSystem)
    (self.started, residentPages) = (started, pages)
  }
}
