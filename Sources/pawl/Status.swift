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
    try exiting(json: json) { () throws(RunFailure) in
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
  static func text(_ status: JSONValue.Content) -> String { lines(status).joined(separator: "\n") }

  /// - Parameter most: at most about so many lines, for a screen that shows something else, too: what is not well comes first, and the
  ///   rest is counted; `nil`: everything.
  static func lines(_ status: JSONValue.Content, most: Int? = nil) -> [String] {
    let configuration = status["configuration"]
    let title =
      "pawl \(status["version"].text ?? "?"), process \(status["pid"].count), up \(UploadListing.age(status["uptime"].seconds)): \(status["state"].text ?? "?")"
    let reasons = status["reasons"].elements.map { reason in
      "  \(reason["reason"].text ?? "?"): \(TextTable.safe(reason["detail"].text ?? ""))"
    }
    var rest = status["still_draining"].elements.map { process in
      "process \(process.count), which ran before an upgrade, still finishes its transfers"
    }
    let file = configuration["file"].text.map { " of \(TextTable.safe($0))" } ?? ""
    rest.append("configuration \(configuration["generation"].count)\(file)\(reload(configuration["last_reload"]))")
    let connections = status["connections"]
    rest.append(
      "\(connections["open"].count) of \(connections["max"].count) connections, \(status["loops"].count) event loops")
    let listeners = status["listeners"].elements.map { "listens on \($0.text ?? "?")" }
    let stores = status["caches"].elements.map(cache) + status["spools"].elements.map(spool)
    let upstreams = status["upstreams"].elements
    guard let most else {
      return [title] + reasons + rest + listeners + upstreams.flatMap(upstream) + stores
    }
    let few = max(2, most / 6)
    let above = [title] + capped(reasons, few, "reasons") + rest + capped(listeners, few, "addresses")
    let below = stores.filter { $0.contains(noRoom) }.prefix(few)
    let nodes = capped(sickFirst(upstreams), max(3, most - above.count - below.count), "upstreams and nodes")
    let left = most - above.count - nodes.count
    return above + nodes + (left >= stores.count ? stores : Array(below))
  }

  /// Returns the first lines, and how many there are more.
  private static func capped(_ lines: [String], _ most: Int, _ what: String) -> [String] {
    guard lines.count > most else { return lines }
    return lines.prefix(max(0, most - 1)) + ["  and \(lines.count - max(0, most - 1)) more \(what)"]
  }

  /// The upstreams with nodes that do not work first, and in each of them those nodes.
  private static func sickFirst(_ upstreams: [JSONValue.Content]) -> [String] {
    func isSick(_ node: JSONValue.Content) -> Bool { node["state"].text != "works" }
    let sick = upstreams.filter { $0["nodes"].elements.contains(where: isSick) }
    let well = upstreams.filter { !$0["nodes"].elements.contains(where: isSick) }
    let ordered = sick + well
    return ordered.flatMap { each in
      let nodes = each["nodes"].elements
      return [head(of: each)] + (nodes.filter(isSick) + nodes.filter { !isSick($0) }).map(node)
    }
  }

  private static func reload(_ last: JSONValue.Content) -> String {
    guard last != .null else { return "" }
    let age = UploadListing.age(UploadListing.now() - last["at"].seconds)
    return last["applied"].isTrue ? ", reloaded \(age) ago" : ", a reload \(age) ago changed nothing"
  }

  private static func upstream(_ upstream: JSONValue.Content) -> [String] {
    [head(of: upstream)] + upstream["nodes"].elements.map(node)
  }

  private static func head(of upstream: JSONValue.Content) -> String {
    "upstream \(upstream["name"].text ?? "?"): \(upstream["connections"].count) of \(upstream["max_connections"].count) connections, \(upstream["waiting"].count) requests wait"
  }

  private static func node(_ node: JSONValue.Content) -> String {
    "  \(node["url"].text ?? "?"): \(node["state"].text ?? "?")\(node["backup"].isTrue ? " (backup)" : "")"
  }

  private static func cache(_ cache: JSONValue.Content) -> String {
    "cache \(cache["name"].text ?? "?"): \(cache["objects"].count) objects, \(disk(cache)), \(cache["path"].text ?? "?")"
  }

  private static func spool(_ spool: JSONValue.Content) -> String {
    let uploads = spool["uploads"].members.map { "\($0.value.count) \($0.name)" }.joined(separator: ", ")
    return "uploads: \(uploads.isEmpty ? "none" : uploads), \(disk(spool)), \(spool["path"].text ?? "?")"
  }

  private static let noRoom = ", NO ROOM"

  private static func disk(_ place: JSONValue.Content) -> String {
    let used = "\(UploadListing.size(place["bytes"].count)) of \(UploadListing.size(place["max_size"].count))"
    let free = place["free"] == .null ? "" : ", \(UploadListing.size(place["free"].count)) free"
    return used + free + (place["has_room"].isTrue ? "" : noRoom)
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
