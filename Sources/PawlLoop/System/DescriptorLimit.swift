import CLinux

/// The number of files and sockets this process may have open.
package enum DescriptorLimit {
  /// Raises the soft limit to the hard one (`RLIMIT_NOFILE`) and returns the limit in effect.
  /// - Throws: ``LoopError/system(call:code:)`` if the limit cannot be read or set.
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

  /// The highest limit that ``raise()`` can reach; `UInt64.max` if it cannot be read.
  package static var most: UInt64 {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
    return UInt64(limit.rlim_max)
  }

  /// The number of descriptors for spare files, which are kept open to save time later: a sixty-fourth of the limit, and at most
  /// `most`.
  package static func spare(atMost most: Int) -> Int { min(most, current / 64) }

  /// The number of files that one of several caches may keep open without readers. All caches together may use a quarter of the
  /// limit; each cache may use at most `most`, and at least one. The rest is for connections: a request may need two.
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
  /// Ignores `SIGPIPE` for the whole process. `sendfile(2)` has no `MSG_NOSIGNAL`, so a client that leaves would otherwise end
  /// pawl. Every ``EventLoop`` calls this function; further calls do nothing.
  package static func ignoreSignal() { _ = ignored }

  private static let ignored = pawl_ignore_signal(SIGPIPE)
}
