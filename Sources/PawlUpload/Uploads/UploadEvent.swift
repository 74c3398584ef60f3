/// What may happen to an upload as a whole.
package enum UploadEvent: Hashable, Sendable, CaseIterable {
  /// All its bytes have come and are durable.
  case completed
  /// An attempt to forward it begins.
  case attemptBegan
  /// It is on record that its last byte may go to the origin.
  case requestSent
  /// The attempt failed: the origin does not have it, or may have it twice.
  case attemptFailed
  /// The origin does not have it, which is on record before anybody is told.
  case cameBack
  /// The origin's final answer came.
  case answered
  /// No answer came that counts.
  case outcomeLost
  /// The operator wants an unknown one sent again.
  case resendOrdered
  /// It is too long, or not what its digest says.
  case invalidated
  /// Its client or the operator removes it.
  case removed
  /// Its time is over.
  case expired
  /// It is over, and others need the room.
  case crowdedOut
  /// It could not be made after all: nobody was told of it.
  case undone
  /// A start finds all its bytes.
  case foundWhole
  /// A start finds its file missing or too short.
  case fileLost
  /// The operator wants it sent again while no server runs: an attempt under way ended with the server.
  case resendOrderedAtRest
  /// The operator removes it while no server runs.
  case removedAtRest
}

/// What an event makes of an upload.
package enum UploadStep: Hashable, Sendable {
  case to(UploadPhase)
  /// It may be asked for, and changes nothing: another was faster, or the phase does not allow it.
  case refused
  /// Nobody asks for it in this phase: a mistake of pawl's own, which changes nothing.
  case impossible
}

extension UploadPhase {
  /// The story of an upload. No code takes it to a phase that this does not say.
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
      // What may have reached the origin stays in the operator's sight.
      go(to: .invalid, from: [.open, .complete, .forwarding], never: [.answered, .invalid, .removed])
    case .resendOrderedAtRest: go(to: .complete, from: [.complete, .forwarding, .sent, .unknown])
    case .removedAtRest: self == .removed ? .refused : .to(.removed)
    }
  }

  private func go(to phase: Self, from known: [Self], never foreign: [Self] = []) -> UploadStep {
    known.contains(self) ? .to(phase) : foreign.contains(self) ? .impossible : .refused
  }

  /// As which it is recorded: an attempt that ends with the process begins again.
  package var recorded: Self { self == .forwarding ? .complete : self }
}
