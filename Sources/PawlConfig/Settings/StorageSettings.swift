/// `[cache:NAME]`: a store of bodies. All clients share it.
package struct CacheSettings: Hashable, Sendable {
  package var name: String
  package var path: String
  /// The largest size in bytes; `nil`: 80 % of the space that is free when the cache is first opened.
  package var maxSize: UInt64?
  /// The bytes that are kept free on the file system.
  package var minFree: UInt64 = 1 << 30
  /// The memory for small, often used bodies, in bytes.
  package var memory: UInt64 = 64 << 20
  /// The largest body that is kept in memory, in bytes.
  package var memoryObject: UInt64 = 32 << 10
  /// The largest body that is stored in a pack, in bytes; 0: each body has a file of its own.
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

/// `[spool:NAME]`: the directory with uploads.
package struct SpoolSettings: Hashable, Sendable {
  package enum Durability: String, Hashable, Sendable, CaseIterable { case data, none }

  package var name: String
  package var path: String
  /// The largest size of all uploads together, in bytes; `nil`: 10 % of the file system.
  package var maxSize: UInt64?
  /// The lifetime of an incomplete upload since its last byte.
  package var expireAfter = Duration.seconds(24 * 3600)
  /// The lifetime of an incomplete upload since its creation.
  package var maxAge = Duration.seconds(7 * 86400)
  package var durability = Durability.data
  /// The most incomplete uploads that one client may have.
  package var maxUploadsPerClient = 100
  /// The largest share of the spool that one client may use, in percent.
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
