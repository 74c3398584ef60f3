import COpenSSL
import PawlBase

/// TLS sessions with origins, for resumption. A few sessions are kept for each place, and only for the places used last. Here a
/// place is an address of an origin with the name of its certificate. Safe on any thread.
final class ClientSessions: Sendable {
  /// The most sessions that are kept for one place.
  static let perPlace = 8
  static let places = 256

  /// A reference to a session of OpenSSL, freed with this object.
  final class Session: @unchecked Sendable {
    // Safe: OpenSSL counts references under its own locks, and a session that is kept here is not changed.
    let raw: OpaquePointer
    init(adopting raw: OpaquePointer) { self.raw = raw }
    deinit { SSL_SESSION_free(raw) }

    /// Whether the session is of TLS 1.3 and so for one use only: a reused ticket would link two connections of one client
    /// (RFC 8446 C.4).
    var isForOneUse: Bool { SSL_SESSION_get_protocol_version(raw) == TLS1_3_VERSION }
    func isUsable(at now: Int64) -> Bool {
      SSL_SESSION_is_resumable(raw) == 1
        && now < Int64(SSL_SESSION_get_time(raw)) + Int64(SSL_SESSION_get_timeout(raw))
    }
  }

  private struct Place {
    var sessions: [Session] = []
    var lastUse: UInt64 = 0
  }
  private struct State {
    var places: [String: Place] = [:]
    var uses: UInt64 = 0
  }
  private let state = Locked(State())

  func keep(_ session: Session, for place: String) {
    let dropped: [Session] = state.withLock { state in
      state.uses += 1
      var dropped: [Session] = []
      var entry = state.places[place] ?? Place()
      if !session.isForOneUse { swap(&dropped, &entry.sessions) }
      entry.sessions.append(session)
      if entry.sessions.count > Self.perPlace { dropped.append(entry.sessions.removeFirst()) }
      entry.lastUse = state.uses
      state.places[place] = entry
      if state.places.count > Self.places, let oldest = state.places.min(by: { $0.value.lastUse < $1.value.lastUse }) {
        dropped += oldest.value.sessions
        state.places[oldest.key] = nil
      }
      return dropped
    }
    withExtendedLifetime(dropped) {}  // Freed after the lock is released.
  }

  /// Takes the newest usable session of the place.
  func take(for place: String, now: Int64) -> Session? {
    state.withLock { state in
      guard var entry = state.places[place] else { return nil }
      state.uses += 1
      entry.lastUse = state.uses
      defer { state.places[place] = entry.sessions.isEmpty ? nil : entry }
      while let session = entry.sessions.popLast() {
        guard session.isUsable(at: now) else { continue }
        if !session.isForOneUse { entry.sessions.append(session) }
        return session
      }
      return nil
    }
  }

  var count: Int { state.withLock { state in state.places.values.reduce(0) { $0 + $1.sessions.count } } }
}
