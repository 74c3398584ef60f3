import CLinux
import PawlBase
import PawlLoop
import PawlTLS

/// Decides whether the server is well, and says what is not.
///
/// Only a server that drains or cannot be reached is not ready: a probe that takes a server out of service for a full cache would
/// turn a small trouble into a large one. Everything else makes it `degraded`, with status 200 and reasons.
struct AdminHealth: Sendable {
  enum State: String, Sendable { case ready, degraded, draining, unavailable }

  /// Something that is not well.
  struct Reason: Hashable, Sendable {
    /// A word for programs.
    var what: String
    /// What it is about, for people.
    var detail: String
  }

  let state: State
  let reasons: [Reason]

  /// The least room in a cache or spool, in bytes: with less, hardly any body can be kept.
  static let leastRoom: UInt64 = 1 << 20

  /// - Parameters:
  ///   - now: for the nodes of upstreams.
  ///   - wall: for certificates, seconds since 1970.
  init(_ picture: ServerPicture, now: Monotonic, wall: Int64) {
    reasons =
      Self.origins(picture, now) + Self.storage(picture) + Self.certificates(picture, wall) + Self.settings(picture)
    state =
      picture.isDraining
      ? .draining : picture.urls.isEmpty ? .unavailable : reasons.isEmpty ? .ready : .degraded
  }

  /// Whether requests should be sent here.
  var isReady: Bool { state == .ready || state == .degraded }

  private static func origins(_ picture: ServerPicture, _ now: Monotonic) -> [Reason] {
    picture.origins.flatMap { origin -> [Reason] in
      let states = origin.upstream.nodeStates(at: now)
      let down = zip(origin.section.nodes, states).filter { $0.1 != .works }
      let name = "[upstream:\(origin.section.name)]"
      if !down.isEmpty, down.count == states.count {
        return [Reason(what: "upstream-down", detail: "\(name) has no node that works")]
      }
      return down.map { Reason(what: "node-down", detail: "\(name) \($0.0.url): \($0.1.rawValue)") }
    }
  }

  private static func storage(_ picture: ServerPicture) -> [Reason] {
    let caches = picture.caches.filter { !$0.store.hasRoom(for: leastRoom) }.map { entry in
      Reason(
        what: "cache-full",
        detail: "[cache:\(entry.name)] keeps nothing more: \(room(entry.store.freeBytes, entry.store.minFree))")
    }
    let spools = picture.spools.filter { !$0.store.hasRoom(for: leastRoom) }.map { spool in
      Reason(
        what: "spool-full",
        detail: "\(spool.settings.path) takes no upload: \(room(spool.store.freeBytes, spool.store.minFree))")
    }
    return caches + spools
  }

  private static func room(_ free: UInt64?, _ minFree: UInt64) -> String {
    guard let free else { return "max-size is reached" }
    return free < minFree ? "\(free) bytes are free, less than min-free (\(minFree))" : "max-size is reached"
  }

  private static func certificates(_ picture: ServerPicture, _ wall: Int64) -> [Reason] {
    picture.certificates.filter { $0.notAfter < wall }
      .map { Reason(what: "certificate-expired", detail: "[tls:\($0.section)] \($0.file)") }
  }

  private static func settings(_ picture: ServerPicture) -> [Reason] {
    var reasons: [Reason] = []
    if picture.maxConnections > 0, picture.openConnections >= picture.maxConnections {
      reasons.append(Reason(what: "connections-full", detail: "max-connections (\(picture.maxConnections)) are open"))
    }
    if let last = picture.lastReload {
      if !last.outcome.isApplied {
        reasons.append(
          Reason(what: "reload-failed", detail: last.outcome.mistakes.first ?? "the old configuration stays"))
      }
      reasons += last.outcome.needsRestart.map { Reason(what: "restart-needed", detail: $0) }
    }
    return reasons
  }

  // MARK: - Answers

  /// - Parameter isFull: whether the reasons are told: they name files and addresses.
  func reply(isFull: Bool) -> AdminReply {
    let reply = AdminReply.object(status: isReady ? 200 : 503) { write(to: &$0, isFull: isFull) }
    return isReady ? reply : reply.with("Retry-After", "5")
  }

  func write(to json: inout JSONWriter, isFull: Bool) {
    json.member("state", state.rawValue)
    guard isFull else { return }
    json.member(
      "reasons",
      array: { array in
        for reason in reasons {
          array.object {
            $0.member("reason", reason.what)
            $0.member("detail", reason.detail)
          }
        }
      })
  }
}

/// Whether uploads can be taken: the directory of each spool is writable, and has room. Blocking, because it asks the disk.
enum UploadReadiness {
  static func reply(_ picture: ServerPicture, isFull: Bool) -> AdminReply {
    let found = picture.spools.map { spool in (spool.settings.path, trouble(of: spool)) }
    let isReady = !picture.isDraining && !found.contains { $0.1 != nil }
    let reply = AdminReply.object(status: isReady ? 200 : 503) { json in
      json.member("state", isReady ? "ready" : picture.isDraining ? "draining" : "unavailable")
      guard isFull else { return }
      json.member(
        "spools",
        array: { array in
          for (path, trouble) in found {
            array.object {
              $0.member("path", path)
              $0.member("trouble", trouble)
            }
          }
        })
    }
    return isReady ? reply : reply.with("Retry-After", "5")
  }

  /// What keeps the spool from taking uploads; `nil`: nothing.
  private static func trouble(of spool: OpenSpool) -> String? {
    let path = spool.settings.path
    guard access(path + "/bodies", W_OK) == 0 else {
      return "\(path)/bodies cannot be written: \(String(cString: strerror(pawl_errno())))"
    }
    guard spool.store.hasRoom(for: AdminHealth.leastRoom) else {
      return
        "no room: \(spool.store.usedBytes) of \(spool.store.capacity) bytes are used, \(spool.store.freeBytes ?? 0) are free on the disk"
    }
    return nil
  }
}
