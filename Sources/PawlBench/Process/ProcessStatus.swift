/// What `/proc/PID/stat` says of one process (proc_pid_stat(5)).
struct ProcessStatus: Hashable, Sendable {
  var parent: Int32
  /// Clock ticks spent in user and in kernel mode by all its threads, those that have ended included.
  var user: UInt64
  var system: UInt64
  /// Clock ticks of its children that ended and were waited for, and of theirs.
  var reapedUser: UInt64
  var reapedSystem: UInt64
  /// Clock ticks from the machine's start to its own: with the number, this names a process for ever.
  var started: UInt64
  /// Pages of resident memory.
  var residentPages: UInt64

  /// `nil` when a field is missing or is not a number.
  init?(_ text: some Sequence<UInt8>) {
    let bytes = Array(text)
    // The command's name stands in parentheses and may hold spaces and parentheses itself.
    guard let close = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = bytes[(close + 1)...].split { $0 == 0x20 || $0 == 0x0a }
    func number(_ place: Int) -> UInt64? {
      // Places as in the manual page; the first field after the name is the third.
      let index = place - 3
      guard index < fields.count else { return nil }
      let field = String(decoding: fields[index], as: UTF8.self)
      // `rss` and the times of children are signed in the manual; below zero they mean nothing.
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
