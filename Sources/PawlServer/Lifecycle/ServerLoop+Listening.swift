import PawlCertificates
import PawlConfig
import PawlLoop

/// The listeners of one loop.
extension ServerLoop {
  /// A listener that is to accept, with its settings.
  struct Wanted: Sendable {
    /// The number of the listener (``BoundListener/id``).
    var id: Int
    /// The address as the configuration has it.
    var name: String
    var settings: PawlConfig.ListenerSettings
    var certificates: ListenerCertificates?
  }

  /// Binds a socket, or takes over one that is bound already. Nothing is accepted before ``listen(_:)``.
  func bind(_ id: Int, _ make: (EventLoop) throws(LoopError) -> Listener) -> Result<SocketAddress, LoopError> {
    Result { () throws(LoopError) in
      let listener = try make(loop)
      boundListeners[id, default: []].append(listener)
      return listener.boundAddress
    }
  }

  func discard(_ id: Int) { for listener in boundListeners.removeValue(forKey: id) ?? [] { listener.close() } }

  func allowSharing(_ ids: Set<Int>) {
    for listener in listeners where ids.contains(listener.id) { listener.allowSharing() }
  }

  /// Accepts on bound listeners, and gives all listeners their settings.
  func listen(_ all: [Wanted]) {
    for wanted in all {
      for (index, listener) in listeners.enumerated() where listener.id == wanted.id {
        if listener.take(wanted.settings, wanted.certificates) { continue }
        let changed = ListenerOnLoop(
          replacing: listener, settings: wanted.settings, certificates: wanted.certificates)
        listeners[index] = changed
        receive(from: changed)
      }
      for listener in boundListeners.removeValue(forKey: wanted.id) ?? [] {
        // The loop drains: it accepts nothing any more.
        guard !services.isEnding else {
          listener.close()
          continue
        }
        start(
          ListenerOnLoop(
            listener, id: wanted.id, name: wanted.name, settings: wanted.settings, certificates: wanted.certificates))
      }
    }
  }

  private func start(_ listener: ListenerOnLoop) {
    receive(from: listener)
    listeners.append(listener)
    do throws(LoopError) { try listener.start() } catch { services.shared.failures.noteAccept("\(error)") }
  }

  private func receive(from listener: ListenerOnLoop) {
    listener.whenAccepted { [unowned self] descriptor, peer, listener in
      accepted(descriptor, from: peer, on: listener)
    } trouble: { [unowned self] trouble in
      services.shared.failures.noteAccept("\(trouble)")
    }
  }

  /// Ends the listeners that the configuration does not have any more. Connections that wait to be accepted are accepted first.
  func endListeners(except kept: Set<Int>) {
    for listener in listeners where !kept.contains(listener.id) {
      listener.acceptRest()
      listener.close()
    }
    listeners.removeAll { !kept.contains($0.id) }
  }
}
