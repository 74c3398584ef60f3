/// `[cache:NAME]`: bodies kept on disk for everybody.
package struct CacheSettings: Hashable, Sendable {
  package var name: String
  package var path: String
  /// Bytes; `nil`: 80 % of the free space at first start.
  package var maxSize: UInt64?
  /// Bytes kept free on the file system.
  package var minFree: UInt64 = 1 << 30
  /// Bytes of small, hot bodies kept in memory.
  package var memory: UInt64 = 64 << 20
  /// The largest body kept in memory, in bytes.
  package var memoryObject: UInt64 = 32 << 10
  /// The largest body that is kept with others in one file, in bytes; 0: each has a file of its own.
  package var packedObject: UInt64 = 256 << 10

  package init(name: String, path: String) { (self.name, self.path) = (name, path) }

  static var keys: [Key<CacheSettings>] {
    [
      .scalar("path", \.path, .path),
      .scalar(
        "max-size", \.maxSize, .defaulted(.size(1 << 20...(1 << 62)), shown: "80% of the free space at first start")),
      .scalar("min-free", \.minFree, .size()),
      .scalar("memory", \.memory, .size()),
      .scalar("memory-object", \.memoryObject, .size()),
      .scalar("packed-object", \.packedObject, .size(0...(1 << 20))),
    ]
  }
}

/// `[spool:NAME]`: uploads on disk.
package struct SpoolSettings: Hashable, Sendable {
  package enum Durability: String, Hashable, Sendable, CaseIterable { case data, none }

  package var name: String
  package var path: String
  /// Bytes of all uploads together; `nil`: 10 % of the file system.
  package var maxSize: UInt64?
  /// Incomplete uploads, since their last byte.
  package var expireAfter = Duration.seconds(24 * 3600)
  /// Incomplete uploads, since they were created.
  package var maxAge = Duration.seconds(7 * 86400)
  package var durability = Durability.data
  /// Open uploads a client may have.
  package var maxUploadsPerClient = 100
  /// Percent of the spool one client may fill.
  package var maxSharePerClient = 25

  package init(name: String, path: String) { (self.name, self.path) = (name, path) }

  static var keys: [Key<SpoolSettings>] {
    [
      .scalar("path", \.path, .path),
      .scalar("max-size", \.maxSize, .defaulted(.size(1 << 20...(1 << 62)), shown: "10% of the file system")),
      .scalar("expire-after", \.expireAfter, .positiveTime),
      .scalar("max-age", \.maxAge, .positiveTime),
      .scalar("durability", \.durability, .choice()),
      .scalar("max-uploads-per-client", \.maxUploadsPerClient, .count(1...1_000_000)),
      .scalar("max-share-per-client", \.maxSharePerClient, .percentage),
    ]
  }
}
