import ArgumentParser
import PawlBase
import PawlConfig
import PawlUploadStore

struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show how the running server is.",
    discussion: """
      Exit status 0 when it is ready, 1 when it is degraded or drains, 69 when no server runs. Without a server, what is \
      on disk is shown.
      """)
  @OptionGroup var server: ServerSelection
  @Flag(help: "As one JSON object (Config/admin.md).")
  var json = false

  func run() throws {
    var isReady = false
    try exiting { () throws(RunFailure) in
      let answer = try server.need("GET", "/v1/status") { () throws(RunFailure) in
        if !json { try StatusReport.onDisk(server) }
      }
      isReady = answer.json["state"].text == "ready"
      print(json ? answer.text : StatusReport.text(answer.json) + "\n", terminator: "")
    }
    if !isReady { throw ExitCode.failure }
  }
}

/// What `pawl status` prints.
enum StatusReport {
  static func text(_ status: JSONValue.Content) -> String {
    let configuration = status["configuration"]
    var lines = [
      "pawl \(status["version"].text ?? "?"), process \(status["pid"].count), up \(UploadListing.age(status["uptime"].seconds)): \(status["state"].text ?? "?")"
    ]
    for reason in status["reasons"].elements {
      lines.append("  \(reason["reason"].text ?? "?"): \(TextTable.safe(reason["detail"].text ?? ""))")
    }
    lines.append("configuration \(configuration["generation"].count)\(reload(configuration["last_reload"]))")
    let connections = status["connections"]
    lines.append(
      "\(connections["open"].count) of \(connections["max"].count) connections, \(status["loops"].count) event loops")
    for listener in status["listeners"].elements { lines.append("listens on \(listener.text ?? "?")") }
    lines += status["upstreams"].elements.flatMap(upstream)
    for cache in status["caches"].elements {
      lines.append(
        "cache \(cache["name"].text ?? "?"): \(cache["objects"].count) objects, \(disk(cache)), \(cache["path"].text ?? "?")"
      )
    }
    for spool in status["spools"].elements {
      let uploads = spool["uploads"].members.map { "\($0.value.count) \($0.name)" }.joined(separator: ", ")
      lines.append("uploads: \(uploads.isEmpty ? "none" : uploads), \(disk(spool)), \(spool["path"].text ?? "?")")
    }
    return lines.joined(separator: "\n")
  }

  private static func reload(_ last: JSONValue.Content) -> String {
    guard last != .null else { return "" }
    let age = UploadListing.age(UploadListing.now() - last["at"].seconds)
    return last["applied"].isTrue ? ", reloaded \(age) ago" : ", a reload \(age) ago changed nothing"
  }

  private static func upstream(_ upstream: JSONValue.Content) -> [String] {
    let nodes = upstream["nodes"].elements
    let head =
      "upstream \(upstream["name"].text ?? "?"): \(upstream["connections"].count) of \(upstream["max_connections"].count) connections, \(upstream["waiting"].count) requests wait"
    return [head]
      + nodes.map { "  \($0["url"].text ?? "?"): \($0["state"].text ?? "?")\($0["backup"].isTrue ? " (backup)" : "")" }
  }

  private static func disk(_ place: JSONValue.Content) -> String {
    let used = "\(UploadListing.size(place["bytes"].count)) of \(UploadListing.size(place["max_size"].count))"
    let free = place["free"] == .null ? "" : ", \(UploadListing.size(place["free"].count)) free"
    return used + free + (place["has_room"].isTrue ? "" : ", NO ROOM")
  }

  /// Prints the uploads on disk, of a server that does not run.
  static func onDisk(_ server: ServerSelection) throws(RunFailure) {
    var selection = SpoolSelection()
    (selection.config, selection.state) = (server.file, server.file == nil ? server.state : nil)
    do throws(ExitCode) {
      for path in try selection.paths() where !UploadCatalogueReading.isMissing(path) {
        let entries = try listing(path)
        let bytes = entries.reduce(UInt64(0)) { $0 + $1.upload.offset }
        let counts = Dictionary(grouping: entries) { "\($0.upload.phase)" }.mapValues(\.count)
        let words = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        print("uploads on disk: \(words.isEmpty ? "none" : words), \(UploadListing.size(bytes)), \(path)")
      }
    } catch { throw RunFailure(.configuration, "\(server.name) is not valid") }
  }

  private static func listing(_ path: String) throws(ExitCode) -> [UploadListing.Entry] {
    do throws(RunFailure) { return try UploadListing.read(path) } catch {
      printError("pawl: \(error.message)\n")
      return []
    }
  }
}
