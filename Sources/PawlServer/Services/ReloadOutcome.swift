package import PawlConfig
import PawlObserve

/// What a reload changed, and what it did not.
package struct ReloadOutcome: Hashable, Sendable {
  /// Whether the new configuration is in use. If not, nothing has changed at all.
  package var isApplied: Bool
  /// The reasons why the new configuration is not in use: whole lines, as `pawl check` prints them. Empty if it is.
  package var mistakes: [String]
  /// The changes that take effect only after a restart, one line for each key (`FILE:LINE: [section] key: …`). Until then the old
  /// value is in use.
  package var needsRestart: [String]

  package init(isApplied: Bool, mistakes: [String] = [], needsRestart: [String] = []) {
    (self.isApplied, self.mistakes, self.needsRestart) = (isApplied, mistakes, needsRestart)
  }

  /// The outcome of a reload whose configuration cannot be read.
  package init(_ invalid: InvalidConfiguration) {
    self.init(isApplied: false, mistakes: invalid.issues.filter { $0.severity == .error }.map(\.description))
  }

  /// Logs the outcome: `reloaded`, with `reload-partial` for each change that needs a restart, or `reload-failed` for each mistake.
  func log(to events: EventLog) {
    for mistake in mistakes { events.log(.error, "reload-failed", ["why": mistake]) }
    for change in needsRestart { events.log(.warning, "reload-partial", ["why": change]) }
    if isApplied { events.log(.notice, "reloaded", [:]) }
  }
}
