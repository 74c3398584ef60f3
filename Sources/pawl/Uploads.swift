import ArgumentParser
import CLinux
import PawlConfig
import PawlDisk
import PawlUploadStore

struct Uploads: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List, show, send again or remove uploads.",
    discussion: """
      Works beside a running server and without one, on the spools of a configuration file or of a state directory. An \
      upload is named by its ID or the first characters of it; the secret part of its URL is never shown.

      An upload is "unknown" when it went to the application in full and no answer came: whether the application has it, \
      nobody knows. Look there, then "resend" or "rm" it.
      """,
    subcommands: [List.self, Show.self, Resend.self, Remove.self], defaultSubcommand: List.self)

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List uploads, the oldest first.")
    @OptionGroup var spools: SpoolSelection
    @Flag(help: "One JSON object a line, with every member that \"show\" has.")
    var json = false

    func run() throws {
      let uploads = OperatedUploads(paths: try spools.paths(json: json))
      try exiting(json: json) { () throws(RunFailure) in
        let found = try uploads.all()
        if json {
          for entry in found { print(UploadListing.json(entry)) }
        } else {
          print(UploadListing.table(found, now: UploadListing.now()), terminator: "")
        }
      }
    }
  }

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show all that is known of an upload.")
    @OptionGroup var spools: SpoolSelection
    @Flag(help: "As one JSON object.")
    var json = false
    @Argument(help: "The upload's ID, or the first characters of it.")
    var id: String

    func validate() throws { if id.isEmpty { throw ValidationError("The ID is empty.") } }

    func run() throws {
      let uploads = OperatedUploads(paths: try spools.paths(json: json))
      try exiting(json: json) { () throws(RunFailure) in
        let entry = try uploads.find(id)
        print(json ? UploadListing.json(entry) : UploadListing.details(entry, now: UploadListing.now()))
      }
    }
  }

  struct Resend: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Send an unknown upload to the application again.",
      discussion: "The application may get it a second time; the Idempotency-Key is the one it had before.")
    @OptionGroup var uploads: NamedUploads

    func run() throws { try uploads.give(.resend, done: "will be sent again") }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rm", abstract: "Remove uploads and their bytes.",
      discussion: "A completed upload that was not delivered is the only copy there is.")
    @OptionGroup var uploads: NamedUploads

    func run() throws { try uploads.give(.remove, done: "removed") }
  }
}

/// The uploads that a command is for.
struct NamedUploads: ParsableArguments {
  @OptionGroup var spools: SpoolSelection
  @Argument(help: "IDs, or at least the first four characters of them.")
  var ids: [String]

  /// Refuses short IDs: an empty variable in a script must not name the only upload that exists.
  func validate() throws {
    for id in ids where id.utf8.count < 4 {
      throw ValidationError("\"\(id)\" is too short: at least four characters of an ID are needed.")
    }
  }

  /// Gives an order for each upload.
  /// - Parameter done: the text that is printed after each ID.
  func give(_ order: UploadOrder.Kind, done: String) throws {
    let uploads = OperatedUploads(paths: try spools.paths())
    try exiting { () throws(RunFailure) in
      for id in ids { try uploads.give(order, id, done: done) }
    }
  }
}

/// The spools that a command is for.
struct SpoolSelection: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "The spools of this configuration (default \(ServerSelection.usualFile), if it is there).", valueName: "file"),
    completion: .file())
  var config: String?

  @Option(
    help: ArgumentHelp(
      "The spool of this state directory (default /var/lib/pawl as root, else ./pawl-state).", valueName: "dir"),
    completion: .directory)
  var state: String?

  func validate() throws {
    if config != nil, state != nil { throw ValidationError("--config and --state exclude each other.") }
  }

  /// Returns the directories of the spools. A configuration that is not valid ends the program.
  func paths(json isJSON: Bool = false) throws(ExitCode) -> [String] {
    let usual = state == nil && access(ServerSelection.usualFile, R_OK) == 0 ? ServerSelection.usualFile : nil
    guard let config = config ?? usual else {
      let directory = state ?? Surroundings.system.defaultStateDirectory
      let (own, former) = (directory + "/spool", former(in: directory))
      return !former.isEmpty && UploadCatalogueReading.isMissing(own) ? former : Self.adding(former, to: [own])
    }
    let configuration = try ConfigurationSource.file(path: config).loadOrExit(json: isJSON)
    let paths = configuration.spools.map(\.path)
    // Uploads may be left in the built-in spool, even if the configuration does not use it any more.
    let builtIn = configuration.builtInSpool.path
    let isThere = UploadCatalogueReading.isMissing(builtIn) ? [] : [builtIn]
    return Self.adding(isThere + former(in: configuration.process.stateDirectory), to: paths)
  }

  private static func adding(_ more: [String], to paths: [String]) -> [String] {
    more.reduce(into: paths) { paths, path in
      if !paths.contains(path) { paths.append(path) }
    }
  }

  /// Returns the spools that the settings do not name any more but that may still have uploads.
  private func former(in directory: String) -> [String] {
    do throws(StoreError) {
      return try FormerSpools.read(in: directory).map(\.path).filter { !UploadCatalogueReading.isMissing($0) }
    } catch {
      return []
    }
  }
}

/// Finds uploads of some spools by ID, and passes the operator's orders on.
struct OperatedUploads {
  let paths: [String]

  func all() throws(RunFailure) -> [UploadListing.Entry] {
    var found: [UploadListing.Entry] = []
    for path in paths { found += try UploadListing.read(path) }
    return found
  }

  /// Returns the one upload whose ID begins with `prefix`.
  func find(_ prefix: String) throws(RunFailure) -> UploadListing.Entry {
    let found = try all().filter { $0.upload.id.hex.hasPrefix(prefix.lowercased()) }
    guard let first = found.first else { throw RunFailure(.failure, "there is no upload \(prefix)") }
    guard found.count == 1 else { throw RunFailure(.failure, "\(found.count) uploads begin with \(prefix)") }
    return first
  }

  func give(_ order: UploadOrder.Kind, _ prefix: String, done: String) throws(RunFailure) {
    let entry = try find(prefix)
    let outcome: UploadOrders.Outcome
    do throws(StoreError) {
      outcome = try UploadOrders.give(order, entry.upload.id, path: entry.spool)
    } catch { throw RunFailure(.unavailable, error.description) }
    switch outcome {
    case .done: print("\(entry.upload.id.hex) \(done)")
    case .unknownUpload: throw RunFailure(.failure, "there is no upload \(entry.upload.id.hex) any more")
    case .refused(let why): throw RunFailure(.failure, "upload \(entry.upload.id.hex): \(why)")
    case .noAnswer: throw RunFailure(.failure, "the server that has \(entry.spool) did not answer")
    }
  }
}
