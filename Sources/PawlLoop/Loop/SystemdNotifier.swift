package import CLinux

/// Reports pawl's state to the service manager (protocol of `sd_notify(3)`, without its library).
package enum SystemdNotifier {
  /// Whether the service manager expects messages.
  package static var isExpected: Bool { getenv("NOTIFY_SOCKET").map { $0.pointee != 0 } ?? false }

  /// The assignments that tell of a reload. systemd compares the time with that of its own messages (`Type=notify-reload`).
  package static func reloading(at clock: any LoopClock = SystemClock()) -> String {
    "RELOADING=1\nMONOTONIC_USEC=\(clock.now().nanoseconds / 1000)"
  }

  /// The time within which the service manager expects `WATCHDOG=1` again; `nil`: it does not watch this process.
  package static func watchdog(
    _ environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }, pid: pid_t = getpid()
  ) -> Duration? {
    guard let usec = environment("WATCHDOG_USEC").flatMap(Int64.init), usec > 0 else { return nil }
    if let watched = environment("WATCHDOG_PID"), pid_t(watched) != pid { return nil }
    return .microseconds(usec)
  }

  /// Sends assignments, one a line: `READY=1`, `STOPPING=1`, `RELOADING=1`, `STATUS=…`.
  /// - Returns: `false` if the service manager does not expect messages (`NOTIFY_SOCKET` is not set).
  /// - Throws: ``LoopError/system(call:code:)`` if the message could not be sent.
  @discardableResult
  package static func notify(_ state: String) throws(LoopError) -> Bool {
    guard let value = getenv("NOTIFY_SOCKET") else { return false }
    return try notify(state, socket: String(cString: value))
  }

  /// Sends assignments like ``notify(_:)``, but to the socket `name`: a path, or `@` and an abstract name.
  @discardableResult
  package static func notify(_ state: String, socket name: String) throws(LoopError) -> Bool {
    guard !name.isEmpty else { return false }
    guard name.hasPrefix("/") || name.hasPrefix("@"), let address = SocketAddress.unix(path: name) else {
      throw .system(call: "NOTIFY_SOCKET", code: EAFNOSUPPORT)
    }
    let raw = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard raw >= 0 else { throw .system(call: "socket", code: pawl_errno()) }
    defer { close(raw) }
    let bytes = Array(state.utf8)
    let sent = address.withSockaddr { target, length in
      pawl_sendto(raw, bytes, bytes.count, pawl_MSG_NOSIGNAL, target, length)
    }
    guard sent == bytes.count else { throw .system(call: "sendto NOTIFY_SOCKET", code: pawl_errno()) }
    return true
  }
}
