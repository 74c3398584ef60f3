/// The events that may change the phase of an upload.
package enum UploadEvent: Hashable, Sendable, CaseIterable {
  /// All bytes of the upload have arrived and are durable.
  case completed
  /// A delivery attempt begins.
  case attemptBegan
  /// The catalogue has recorded that the last byte may be sent to the origin.
  case requestSent
  /// The attempt failed, and the origin does not have the upload, or is allowed to get it twice.
  case attemptFailed
  /// The origin does not have the upload. This is recorded before a client is told.
  case cameBack
  /// The origin's final response came.
  case answered
  /// No response came, or none that counts.
  case outcomeLost
  /// The operator orders to send an `unknown` upload again.
  case resendOrdered
  /// The content is too long, or does not match its digest.
  case invalidated
  /// The client or the operator removes the upload.
  case removed
  /// The upload has expired.
  case expired
  /// The upload is answered or invalid, and its space is needed for other uploads.
  case crowdedOut
  /// The creation failed before a client was told of the upload.
  case undone
  /// All bytes of the upload were found when pawl started.
  case foundWhole
  /// The file of the upload was found missing or too short when pawl started.
  case fileLost
  /// The operator orders to send the upload again while no server runs. An attempt that was under way has ended with the server.
  case resendOrderedAtRest
  /// The operator removes the upload while no server runs.
  case removedAtRest
}

/// The effect of an event on an upload.
package enum UploadStep: Hashable, Sendable {
  case to(UploadPhase)
  /// No effect: another event came first, or the phase does not allow it.
  case refused
  /// No effect. The event cannot happen in this phase; if it does, there is a mistake in pawl.
  case impossible
}

extension UploadPhase {
  /// The table of all changes of phase. No other code changes the phase of an upload.
  package func step(on event: UploadEvent) -> UploadStep {
    switch event {
    case .completed: go(to: .complete, from: [.open])
    case .attemptBegan: go(to: .forwarding, from: [.complete], never: [.open])
    case .requestSent: go(to: .sent, from: [.forwarding], never: [.open])
    case .attemptFailed: go(to: .complete, from: [.forwarding, .sent], never: [.open])
    case .cameBack: go(to: .complete, from: [.sent], never: [.open])
    case .answered: go(to: .answered, from: [.forwarding, .sent], never: [.open])
    case .outcomeLost: go(to: .unknown, from: [.forwarding, .sent], never: [.open])
    case .resendOrdered: go(to: .complete, from: [.unknown])
    case .invalidated: go(to: .invalid, from: [.open, .complete])
    case .removed: go(to: .removed, from: [.open, .complete, .answered, .unknown, .invalid])
    case .expired: go(to: .removed, from: [.open, .complete, .answered, .invalid])
    case .crowdedOut:
      go(to: .removed, from: [.answered, .invalid], never: [.open, .complete, .forwarding, .sent, .unknown])
    case .undone:
      go(to: .removed, from: [.open, .complete, .invalid], never: [.forwarding, .sent, .answered, .unknown])
    case .foundWhole:
      self == .open ? .to(.complete) : .impossible
    case .fileLost:
      // An upload that may have reached the origin stays visible to the operator.
      go(to: .invalid, from: [.open, .complete, .forwarding], never: [.answered, .invalid, .removed])
    case .resendOrderedAtRest: go(to: .complete, from: [.complete, .forwarding, .sent, .unknown])
    case .removedAtRest: self == .removed ? .refused : .to(.removed)
    }
  }

  private func go(to phase: Self, from known: [Self], never foreign: [Self] = []) -> UploadStep {
    known.contains(self) ? .to(phase) : foreign.contains(self) ? .impossible : .refused
  }

  /// The phase as it is recorded. ``forwarding`` is recorded as ``complete``, so that an attempt that ends with the process is
  /// repeated.
  package var recorded: Self { self == .forwarding ? .complete : self }
}
