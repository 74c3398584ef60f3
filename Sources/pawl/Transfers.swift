import ArgumentParser
import CLinux
import PawlBase

struct Transfers: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List what the running server transfers now.",
    discussion: "Downloads, fills, uploads and deliveries, with progress, rate, and the cause of the last break.")
  @OptionGroup var server: ServerSelection
  @Flag(help: "As one JSON object.")
  var json = false

  func run() throws {
    try exiting(json: json) { () throws(RunFailure) in
      let answer = try server.need("GET", "/v1/transfers")
      if json { return print(answer.text, terminator: "") }
      let rows = TransferTable.rows(answer.json)
      print(rows.count == 1 ? "no transfers" : TextTable.lines(rows).joined(separator: "\n"))
    }
  }
}

/// The transfers in columns.
enum TransferTable {
  /// Returns the heading and one row for each transfer.
  static func rows(_ list: JSONValue.Content, rates: [String: Double] = [:]) -> [[String]] {
    let heading = ["KIND", "PROGRESS", "RATE", "AGE", "CLIENT", "TARGET", "LAST BREAK"]
    return [heading]
      + list["transfers"].elements.map { transfer in
        let (bytes, length) = (transfer["done"].count, transfer["total"])
        let share = length.count > 0 ? " \(bytes * 100 / length.count)%" : ""
        let rate = transfer["rate"].number ?? rates[transfer["id"].text ?? ""]
        return [
          transfer["kind"].text ?? "?",
          "\(UploadListing.size(bytes))\(length == .null ? "" : " of \(UploadListing.size(length.count))")\(share)",
          rate.map { "\(UploadListing.size($0 > 0 ? UInt64($0) : 0))/s" } ?? "-",
          UploadListing.age(Int64(transfer["age_ms"].count / 1000)), safe(transfer["client"]),
          safe(transfer["target"]), safe(transfer["last_break"]),
        ]
      }
  }

  private static func safe(_ text: JSONValue.Content) -> String { TextTable.safe(text.text ?? "-") }
}

struct Top: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Watch the running server.",
    discussion: """
      In a terminal: the state and the transfers, every second; q ends it. Elsewhere, or with --once, one picture is \
      printed.
      """)
  @OptionGroup var server: ServerSelection
  @Option(help: ArgumentHelp("Seconds between two pictures.", valueName: "seconds"))
  var every = 1
  @Flag(help: "One picture, then the end.")
  var once = false
  @Flag(help: "Each picture as one JSON object a line: status and transfers.")
  var json = false

  func validate() throws {
    if !(1...3600).contains(every) { throw ValidationError("--every is a number from 1 to 3600.") }
  }

  func run() throws {
    try exiting(json: json) { () throws(RunFailure) in
      let isLive = !once && !json && isatty(STDOUT_FILENO) == 1 && isatty(STDIN_FILENO) == 1
      guard isLive else { return try TopScreen.plain(server, every: every, isOnce: once || !json, isJSON: json) }
      try TopScreen.live(server, every: every)
    }
  }
}
