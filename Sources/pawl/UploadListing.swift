import CLinux
import PawlBase
import PawlDisk
import PawlUpload
import PawlUploadStore

/// The output of `pawl uploads`, for a terminal and as JSON.
enum UploadListing {
  struct Entry {
    /// The spool's directory.
    var spool: String
    var upload: UploadSummary
  }

  static func read(_ path: String) throws(RunFailure) -> [Entry] {
    do throws(StoreError) {
      return try UploadCatalogueReading.list(path).map { Entry(spool: path, upload: $0) }
    } catch { throw RunFailure(.unavailable, "cannot read the spool \(path): \(error)") }
  }

  /// The present time: wall clock, seconds since 1970.
  static func now() -> Int64 { Int64(time(nil)) }

  // MARK: For people

  static func table(_ entries: [Entry], now: Int64) -> String {
    guard !entries.isEmpty else { return "no uploads\n" }
    var rows = [["ID", "STATE", "RECEIVED", "OF", "AGE", "TARGET"]]
    for entry in entries {
      let upload = entry.upload
      rows.append([
        String(upload.id.hex.prefix(12)), state(upload), size(upload.offset), upload.length.map(size) ?? "?",
        age(now - upload.createdAt), "\(text(upload.method)) \(text(upload.authority))\(text(upload.target))",
      ])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].utf8.count }.max() ?? 0 }
    return rows.map { row in
      let cells = row.indices.map { column in
        column == row.count - 1 ? row[column] : padded(row[column], widths[column])
      }
      return cells.joined(separator: "  ") + "\n"
    }
    .joined()
  }

  static func details(_ entry: Entry, now: Int64) -> String {
    let upload = entry.upload
    var lines = [
      ("id", upload.id.hex), ("state", state(upload)), ("protocol", upload.isTus ? "tus 1.0.0" : "IETF draft"),
      ("request", "\(text(upload.method)) \(text(upload.scheme))://\(text(upload.authority))\(text(upload.target))"),
      ("client", text(upload.clientAddress)),
      ("received", "\(upload.offset) bytes of \(upload.length.map(String.init) ?? "an unknown length")"),
      ("created", "\(age(now - upload.createdAt)) ago"), ("last byte", "\(age(now - upload.lastByteAt)) ago"),
    ]
    if let expires = upload.expires { lines.append(("expires", "in \(age(expires - now))")) }
    lines.append(("attempts to forward", "\(upload.attempts)"))
    if let next = upload.nextAttempt { lines.append(("next attempt", "in \(age(max(0, next - now)))")) }
    if let error = upload.lastError { lines.append(("last error", error)) }
    if let status = upload.originStatus {
      let fate =
        upload.phase != .answered
        ? "before it had all, which does not count" : upload.isAnswerDelivered ? "delivered" : "not delivered yet"
      lines.append(("answer", "\(status), \(fate)"))
    }
    lines.append(("spool", entry.spool))
    return lines.map { padded($0.0 + ":", 21) + $0.1 }.joined(separator: "\n")
  }

  private static func state(_ upload: UploadSummary) -> String {
    guard upload.phase == .answered, let status = upload.originStatus else { return "\(upload.phase)" }
    return "answered \(status)"
  }

  static func size(_ bytes: UInt64) -> String {
    var value = Double(bytes)
    for unit in ["", "K", "M", "G"] {
      if value < 1024 { return unit.isEmpty ? "\(bytes)" : "\(rounded(value))\(unit)" }
      value /= 1024
    }
    return "\(rounded(value))T"
  }

  private static func rounded(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return value >= 100 || tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }

  static func age(_ seconds: Int64) -> String {
    let seconds = max(0, seconds)
    switch seconds {
    case ..<60: return "\(seconds)s"
    case ..<3600: return "\(seconds / 60)m\(seconds % 60)s"
    case ..<86400: return "\(seconds / 3600)h\(seconds / 60 % 60)m"
    default: return "\(seconds / 86400)d\(seconds / 3600 % 24)h"
    }
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.utf8.count))
  }

  private static func text(_ bytes: [UInt8]) -> String { UploadSummary.text(bytes) }

  // MARK: For programs

  static func json(_ entry: Entry) -> String {
    var json = JSONWriter()
    entry.upload.write(to: &json, spool: entry.spool)
    return json.text
  }
}
