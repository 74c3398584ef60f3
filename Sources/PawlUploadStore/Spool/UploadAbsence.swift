import CLinux
import PawlBase
import PawlDisk
import PawlHTTP
import PawlLoop

/// The time during which no pawl process had a spool open. The times at which an upload is given up, or its answer is forgotten,
/// are put off by this time.
///
/// A file in the spool contains the last time at which pawl ran. It is written every few seconds without a sync, so a crash makes
/// the absence seem a little longer.
enum UploadAbsence {
  private static let digitCount = 20

  private static func path(in directory: String) -> String { directory + "/alive" }

  /// Writes the present time into the file, as the last time at which pawl ran.
  /// - Parameter time: wall clock, seconds since 1970.
  static func end(in directory: String, at time: Int64) throws(StoreError) {
    let path = path(in: directory)
    let file = OwnedDescriptor(adopting: try Files.open(path, O_WRONLY | O_CREAT))
    // The text always has the same length, so that nothing of an older text is left.
    var text: [UInt8] = []
    text.append(decimal: UInt64(max(0, time)), width: digitCount)
    try Files.writeAll(file.raw, text[...], at: 0)
  }

  /// Returns the seconds since a pawl process last had this spool open; 0: not known.
  /// - Parameter now: wall clock, seconds since 1970.
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
