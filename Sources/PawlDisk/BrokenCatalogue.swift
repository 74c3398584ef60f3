import CLinux
import PawlLoop
package import PawlObserve

/// Handles corrupt catalogues. If a catalogue is found corrupt while pawl runs, pawl creates a file that marks it; the next start
/// moves the catalogue aside (renames it).
package enum BrokenCatalogue {
  /// Returns the path of the file that marks the catalogue of this directory as corrupt.
  package static func mark(in directory: String) -> String { directory + "/catalogue.broken" }

  /// Renames the catalogue and its `-wal` and `-shm` files to `.bad-N`, with the first free N. Returns N.
  @discardableResult
  package static func moveAside(_ path: String, _ why: String, _ events: EventLog) throws(StoreError) -> Int {
    var number = 1
    while Files.exists("\(path).bad-\(number)") { number += 1 }
    for suffix in ["", "-wal", "-shm"] where Files.exists(path + suffix) {
      guard rename(path + suffix, "\(path).bad-\(number)\(suffix)") == 0 else { throw Files.failure("rename", path) }
    }
    events.log(.error, "catalogue-moved-aside", ["to": "\(path).bad-\(number)", "why": why])
    return number
  }

  /// Creates the file that marks the catalogue as corrupt, so that the next start moves the catalogue aside. Blocking.
  package static func markBroken(in directory: String, _ events: EventLog) {
    do throws(StoreError) {
      close(try Files.open(mark(in: directory), O_WRONLY | O_CREAT))
    } catch {
      events.log(.error, "catalogue-mark-failed", ["why": "\(error)"])
    }
  }
}
