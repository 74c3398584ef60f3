import PawlConfig

/// Why a new binary may not take over with what the configuration file says now.
enum UpgradeRefusal {
  /// Returns why uploads would be stranded; `nil`: they would not. A reload keeps the spools that it moves or removes open as long as
  /// they hold uploads, and notes them for the next start; a new process knows only what is noted.
  static func reason(from running: Configuration, to new: Configuration) -> String? {
    if let line = ReloadRefusal.lines(from: running, to: new).first { return line }
    let paths = Set(new.spools.map(\.path))
    guard let lost = running.spools.first(where: { !paths.contains($0.path) }) else { return nil }
    return
      "the configuration file has no spool in \(lost.path) any more ([spool:\(lost.name)]): reload first, which keeps its uploads"
  }
}
