import CLinux
import PawlBase
package import PawlConfig
import PawlLoop
package import PawlObserve
package import PawlServer

/// `pawl demo`: a legacy origin with pawl in front of it, and two transfers through pawl.
///
/// The origin breaks the download off several times, which the client does not notice; the client also interrupts and resumes it
/// one time. The client interrupts and resumes the upload as well, and the origin gets the complete upload in one request.
package enum Demonstration {
  /// The size of the file that the legacy origin offers, in bytes.
  package static let size: UInt64 = 48 << 20

  /// Runs until Ctrl-C, or with `once` until both transfers have ended. Blocking, on the main thread.
  /// - Parameter configure: makes the configuration of a pawl in front of the origin's URL.
  /// - Returns: whether both transfers were complete and correct.
  package static func run(
    once: Bool, events: EventLog, configure: (_ origin: String) -> Configuration?,
    print: @escaping @Sendable (String) -> Void
  ) throws(ServerError) -> Bool {
    let origin = try LegacyOrigin(size: size)
    try origin.start()
    guard let configuration = configure("http://127.0.0.1:\(origin.port)") else { return false }
    let outcome = Locked(false)
    let failure = Locked<ServerError?>(nil)
    try ServerSignals.serve(configuration, events: events, reload: { .success(configuration) }) { line in
      let address = String(line.dropFirst("Ready: http://".count))
      introduce(address: address, origin: origin, print)
      let show: @Sendable () -> Void = {
        let download = DemoDownload(address: address, origin: origin, print: print).show()
        let isRight = DemoUpload(address: address, origin: origin, print: print).show() && download
        outcome.withLock { $0 = isRight }
        if once { kill(getpid(), SIGTERM) } else { print("\npawl goes on serving on http://\(address) until Ctrl-C.") }
      }
      do throws(LoopError) { _ = try LoopThread(name: "demo-client", show) } catch {
        failure.withLock { $0 = .system("\(error)") }
      }
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
    return outcome.withLock { $0 }
  }

  private static func introduce(address: String, origin: LegacyOrigin, _ print: (String) -> Void) {
    print(
      """
      A legacy origin listens on http://127.0.0.1:\(origin.port): HTTP/1.0, no ranges, no validators,
      and it breaks off two connections in three. pawl stands before it:

      Ready: http://\(address)

      Try, in another terminal:
        curl -o direct.bin http://127.0.0.1:\(origin.port)/download.bin   # breaks off, sooner or later
        curl -o whole.bin  http://\(address)/download.bin   # does not
        curl -I            http://\(address)/download.bin   # Accept-Ranges: bytes
        curl -r 0-99 -s    http://\(address)/download.bin | xxd | head -3
        curl -o part.bin -m 1 --limit-rate 4M http://\(address)/download.bin; curl -C - -o part.bin http://\(address)/download.bin
        curl -v -T whole.bin -X POST -H 'Upload-Draft-Interop-Version: 6' -H 'Upload-Complete: ?1' http://\(address)/upload
        # shows a 104 with the upload's own URL: break it off, ask there with -I, go on with -X PATCH

      """)
  }
}
