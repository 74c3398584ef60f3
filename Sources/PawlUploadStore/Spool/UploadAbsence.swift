import CLinux
import PawlBase
import PawlDisk
import PawlHTTP
import PawlLoop

/// How long no pawl had a spool. What has a time to be delivered, or to be asked for, has it while somebody can: of the
/// time in which pawl was not there, nothing counts.
///
/// A file in the spool says when pawl was there last: written every few seconds without a sync, so that a crash makes the
/// time a little longer.
enum UploadAbsence {
  private static let digitCount = 20

  private static func path(in directory: String) -> String { directory + "/alive" }

  /// pawl is there now.
  /// - Parameter time: wall seconds.
  static func end(in directory: String, at time: Int64) throws(StoreError) {
    let path = path(in: directory)
    let file = OwnedDescriptor(adopting: try Files.open(path, O_WRONLY | O_CREAT))
    // As long as it ever was: a part of it is never left over.
    var text: [UInt8] = []
    text.append(decimal: UInt64(max(0, time)), width: digitCount)
    guard pwrite(file.raw, text, text.count, 0) == text.count else { throw Files.failure("pwrite", path) }
  }

  /// Seconds since it was there last; 0 where nobody said.
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

  /// Puts off what would have come to its end meanwhile.
  static func putOff(_ row: inout UploadRow, by seconds: Int64) {
    row.giveUpAt = row.giveUpAt.map { $0.addingReportingOverflow(seconds).partialValue }
    row.answerUntil = row.answerUntil.map { $0.addingReportingOverflow(seconds).partialValue }
  }
}

extension SpoolCore {
  /// Until now pawl was there.
  func noteAlive() {
    do throws(StoreError) {
      try UploadAbsence.end(in: place.path, at: clock.wallSeconds())
    } catch {
      events.log(.warning, "spool-time-not-noted", ["why": "\(error)"])
    }
  }
}
