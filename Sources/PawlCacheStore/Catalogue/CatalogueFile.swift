import CLinux
import PawlDisk
import PawlLoop
import PawlObserve

/// Opens `catalogue.sqlite`, or moves one that cannot be trusted aside and begins an empty one.
enum CatalogueFile {
  static func path(in directory: String) -> String { directory + "/catalogue.sqlite" }

  /// What stood in it at the start.
  struct Opened {
    let database: Database
    let seed: UInt64
    /// Whether the last process ended with `close()`.
    let wasClean: Bool
    let index: CatalogueIndex
    /// The highest number that a record of the ledger has had.
    let ledgerSequence: UInt64
  }

  /// - Throws: only when not even an empty catalogue can be made.
  /// - Parameter hasPacks: whether there are objects that the catalogue does not know of.
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
    // SQLite makes its files 0644 less the umask: the -wal and -shm files take the mode of the first.
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
    // Where there are packs, the catalogue does not know what is in them.
    let index = try CatalogueIndex(database, isAll: !hasPacks)
    // Where the ledger had all that readers were given, and the kernel lost nothing of it, no more than the digests is in question.
    let isSame = try KernelRun.isUnchanged(KernelRun(of: directory, file: path), in: database)
    if !wasClean {
      let gap = try CatalogueSchema.meta(database, Ledger.gapName)
      let isExact = isSame && gap == 0
      try database.execute(
        "UPDATE objects SET suspect = \(isExact ? "2 WHERE complete = 0 AND suspect = 0" : "1 WHERE complete = 0")")
    }
    try CatalogueSchema.setMeta(database, "clean", 0)
    // Until there is a ledger.
    try CatalogueSchema.setMeta(database, Ledger.gapName, 1)
    return Opened(
      database: database, seed: UInt64(bitPattern: seed), wasClean: wasClean, index: index, ledgerSequence: sequence)
  }
}

/// What the index in memory is built from: one hash an object, read from an index of the catalogue alone.
struct CatalogueIndex {
  /// One for each object, ascending; a hash stands as often as objects have it.
  private(set) var hashes: [UInt64] = []
  /// Bytes held by all of them.
  private(set) var heldBytes: UInt64 = 0
  /// Paths below which what has a lower number is out of date.
  let outdated: [[UInt8]: Int64]
  /// The first number no object has had.
  let nextNumber: Int64

  /// - Parameter isAll: whether there is nothing but what the catalogue knows of.
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
