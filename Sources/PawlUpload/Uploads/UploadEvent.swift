/// The events that may change the phase of an upload.
package enum UploadEvent: Hashable, Sendable, CaseIterable {
  /// All its bytes have arrived and are durable.
  case completed
  /// A delivery attempt begins.
  case attemptBegan
  /// It is recorded that its last byte may be sent to the origin.
  case requestSent
  /// The attempt failed: the origin does not have the upload, or is allowed to get it twice.
  case attemptFailed
  /// The origin does not have the upload, which is recorded before a client is told.
  case cameBack
  /// The origin's final response came.
  case answered
  /// No response came that counts.
  case outcomeLost
  /// The operator orders to send an `unknown` upload again.
  case resendOrdered
  /// Its content is too long, or does not match its digest.
  case invalidated
  /// The client or the operator removes it.
  case removed
  /// It has expired.
  case expired
  /// It is over, and its room is needed for other uploads.
  case crowdedOut
  /// Its creation failed, before a client was told of it.
  case undone
  /// All its bytes were found at the start.
  case foundWhole
  /// Its file was found missing or too short at the start.
  case fileLost
  /// The operator orders to send it again while no server runs; an attempt under way has ended with the server.
  case resendOrderedAtRest
  /// The operator removes it while no server runs.
  case removedAtRest
}

/// The effect of an event on an upload.
package enum UploadStep: Hashable, Sendable {
  case to(UploadPhase)
  /// No effect: another event came first, or the phase does not allow it.
  case refused
  /// No effect: the event cannot happen in this phase, and is a mistake in pawl.
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

  /// The phase as it is recorded: an attempt that ends with the process is repeated.
  package var recorded: Self { self == .forwarding ? .complete : self }
}
