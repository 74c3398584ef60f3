import CLinux
import PawlBase
import PawlDisk
import PawlHTTP
import PawlLoop

/// The time during which no pawl had a spool open. It does not count for the times in which an upload can be delivered, and its
/// answer be asked for: both are put off by it.
///
/// A file in the spool has the last time at which pawl ran. It is written every few seconds without a sync, so a crash makes the
/// absence seem a little longer.
enum UploadAbsence {
  private static let digitCount = 20

  private static func path(in directory: String) -> String { directory + "/alive" }

  /// Writes that pawl runs now.
  /// - Parameter time: wall seconds.
  static func end(in directory: String, at time: Int64) throws(StoreError) {
    let path = path(in: directory)
    let file = OwnedDescriptor(adopting: try Files.open(path, O_WRONLY | O_CREAT))
    // Always of the same length, so that nothing of an older text is left.
    var text: [UInt8] = []
    text.append(decimal: UInt64(max(0, time)), width: digitCount)
    guard pwrite(file.raw, text, text.count, 0) == text.count else { throw Files.failure("pwrite", path) }
  }

  /// Returns the seconds since pawl last ran with this spool; 0: not known.
  /// - Parameter now: wall seconds.
  static func length(in directory: String, now: Int64) -> Int64 {
    let path = path(in: directory)
    guard Files.exists(path) else { return 0 }
    do throws(StoreError) {
      let file = OwnedDescriptor(adopting: try Files.open(path, O_RDONLY))
      var text = [UInt8](repeating: 0, count: digitCount)
      let count = pread(file.raw, &text, text.count, 0)
      guard count == digitCount, let time = text[...].strictDecimal else { return 0 }
      return max(0, now - Int64(clamping: time))
    } catch {
      return 0
    }
  }

  /// Puts off the times at which the upload is given up, or its answer is forgotten.
  static func putOff(_ row: inout UploadRow, by seconds: Int64) {
    row.giveUpAt = row.giveUpAt.map { $0.addingReportingOverflow(seconds).partialValue }
    row.answerUntil = row.answerUntil.map { $0.addingReportingOverflow(seconds).partialValue }
  }
}

extension SpoolCore {
  /// Writes that pawl ran until now.
  func noteAlive() {
    do throws(StoreError) {
      try UploadAbsence.end(in: place.path, at: clock.wallSeconds())
    } catch {
      events.log(.warning, "spool-time-not-noted", ["why": "\(error)"])
    }
  }
}
