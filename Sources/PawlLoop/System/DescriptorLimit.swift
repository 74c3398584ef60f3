import CLinux

/// The number of files and sockets this process may have open.
package enum DescriptorLimit {
  /// Raises the soft limit to the hard one (`RLIMIT_NOFILE`) and returns what holds from now on.
  /// - Throws: ``LoopError/system(call:code:)`` when the limit can be neither read nor set.
  @discardableResult
  package static func raise() throws(LoopError) -> UInt64 {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      throw .system(call: "getrlimit", code: pawl_errno())
    }
    guard limit.rlim_cur < limit.rlim_max else { return UInt64(limit.rlim_cur) }
    limit.rlim_cur = limit.rlim_max
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      throw .system(call: "setrlimit", code: pawl_errno())
    }
    return UInt64(limit.rlim_cur)
  }

  /// How many descriptors may be held by what is kept open only because that is faster: a sixty-fourth of all, and at most
  /// `most`.
  package static func spare(atMost most: Int) -> Int { min(most, current / 64) }

  /// How many files one of several caches may keep open while nobody reads them: all caches together a quarter of all
  /// descriptors, each at most `most` and at least one. The rest is for connections, each of which may need two.
  package static func idle(atMost most: Int, among caches: Int) -> Int {
    max(1, min(most, current / 4 / max(1, caches)))
  }

  private static var current: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    return Int(clamping: limit.rlim_cur)
  }
}

/// Signals that must not end the process.
package enum BrokenPipe {
  /// Ignores `SIGPIPE` for the whole process. `sendfile(2)` has no `MSG_NOSIGNAL`: without this a client that
  /// leaves would end pawl. Every ``EventLoop`` sees to it; harmless to call again.
  package static func ignoreSignal() { _ = ignored }

  private static let ignored = pawl_ignore_signal(SIGPIPE)
}
