import CLinux
import PawlDisk
import PawlLoop
import PawlObserve

/// Opens `catalogue.sqlite`. Moves a catalogue that cannot be trusted aside and begins an empty one.
enum CatalogueFile {
  static func path(in directory: String) -> String { directory + "/catalogue.sqlite" }

  /// The opened catalogue, and what it contained when it was opened.
  struct Opened {
    let database: Database
    let seed: UInt64
    /// Whether the last process ended with `close()`.
    let wasClean: Bool
    let index: CatalogueIndex
    /// The highest sequence number that a record of the ledger has had.
    let ledgerSequence: UInt64
  }

  /// Opens the catalogue of a cache, or makes an empty one. Blocking.
  /// - Parameter hasPacks: whether there are packs, whose objects are not in the catalogue.
  /// - Throws: only if not even an empty catalogue can be made.
  static func open(in directory: String, hasPacks: Bool = false, _ events: EventLog) throws(StoreError) -> Opened {
    let path = path(in: directory)
    if Files.exists(BrokenCatalogue.mark(in: directory)) {
      try BrokenCatalogue.moveAside(path, "it was found corrupt while pawl ran", events)
      try Files.unlink(BrokenCatalogue.mark(in: directory))
    }
    do throws(StoreError) {
      return try load(path, in: directory, hasPacks: hasPacks)
    } catch {
      guard error.isCorruptCatalogue else { throw error }
      try BrokenCatalogue.moveAside(path, "\(error)", events)
      return try load(path, in: directory, hasPacks: hasPacks)
    }
  }

  private static func load(_ path: String, in directory: String, hasPacks: Bool) throws(StoreError) -> Opened {
    // Makes the file here, because SQLite would make it with mode 0644 less the umask. The -wal and -shm files get the mode of
    // this file.
    close(try Files.open(path, O_RDWR | O_CREAT))
    let database = try Database(path: path, isReader: false)
    try CatalogueSchema.prepare(database, seed: Randomness.uint64())
    guard let seed = try CatalogueSchema.meta(database, "seed") else {
      throw .catalogue(code: StoreError.foreignSchema, message: "no seed")
    }
    let wasClean = try CatalogueSchema.meta(database, "clean") == 1
    try database.execute("PRAGMA synchronous = FULL")
    let sequence =
      wasClean
      ? UInt64(clamping: try CatalogueSchema.meta(database, Ledger.sequenceName) ?? 0)
      : try LedgerReplay.run(in: directory, into: database)
    // Objects in packs are not in the catalogue.
    let index = try CatalogueIndex(database, isAll: !hasPacks)
    // After an unclean end, only the digests have to be checked if two things are true: the ledger has a record of all bytes that
    // readers have got, and the kernel has not been restarted since then.
    let isSame = try KernelRun.isUnchanged(KernelRun(of: directory, file: path), in: database)
    if !wasClean {
      let gap = try CatalogueSchema.meta(database, Ledger.gapName)
      let isExact = isSame && gap == 0
      try database.execute(
        "UPDATE objects SET suspect = \(isExact ? "2 WHERE complete = 0 AND suspect = 0" : "1 WHERE complete = 0")")
    }
    try CatalogueSchema.setMeta(database, "clean", 0)
    // The ledger counts as incomplete until it is opened.
    try CatalogueSchema.setMeta(database, Ledger.gapName, 1)
    return Opened(
      database: database, seed: UInt64(bitPattern: seed), wasClean: wasClean, index: index, ledgerSequence: sequence)
  }
}

/// The data from which the index in memory is built: one hash for each object, read from an SQL index only.
struct CatalogueIndex {
  /// The hashes of all objects, ascending. A hash that several objects have is repeated.
  private(set) var hashes: [UInt64] = []
  /// Bytes held by all of them.
  private(set) var heldBytes: UInt64 = 0
  /// Paths, each with a number. Objects below a path are out of date if their number is lower than that of the path.
  let outdated: [[UInt8]: Int64]
  /// The number for the next new object: higher than those of all objects and of all out-of-date paths.
  let nextNumber: Int64

  /// - Parameter isAll: whether all objects are in the catalogue.
  init(_ database: Database, isAll: Bool = true) throws(StoreError) {
    outdated = try OutdatedRows.read(database, isAll: isAll)
    nextNumber = max(try database.integer("SELECT max(number) FROM objects") ?? 0, outdated.values.max() ?? 0) + 1
    let statement = try database.statement("SELECT key_hash, held FROM objects INDEXED BY objects_by_hash")
    defer { statement.reset() }
    while try statement.step() {
      hashes.append(UInt64(bitPattern: statement.integer(0)))
      heldBytes += UInt64(clamping: statement.integer(1))
    }
  }
}
