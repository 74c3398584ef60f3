package import PawlDisk

/// Names one upload: the first 16 bytes of the SHA-256 of its token.
package typealias UploadID = ObjectID

/// Where a spool lives and how much it may use.
package struct UploadStoreSettings: Sendable {
  /// `[spool:NAME]`.
  package var name: String
  /// The spool's own directory; made when missing.
  package var path: String
  /// Bytes for all uploads; `nil`: 10 % of the file system, 1 GiB at the least.
  package var maxSize: UInt64?
  /// Bytes left free on the file system, so that what else lives there goes on; `nil`: ``reserve`` or 5 % of the
  /// file system, whichever is less.
  package var minFree: UInt64?
  /// Incomplete uploads are collected so long after their last byte.
  package var expireAfter: Duration
  /// Incomplete uploads are collected so long after their creation.
  package var maxAge: Duration
  /// `durability = data`: an offset is told only after its bytes are synced.
  package var isDurable: Bool
  /// Open uploads.
  package var maxUploadsPerClient: Int
  /// Percent of the spool.
  package var maxSharePerClient: Int
  /// Answered uploads that are remembered; beyond it the oldest go, those first whose answer was delivered.
  package var maxAnswered = 50_000
  /// What is remembered of answered uploads besides their answers, bytes of memory; of one client a quarter of it.
  package var maxAnsweredMemory: UInt64 = 64 << 20
  /// What is kept of an upload besides its bytes counts for its client and the spool (``UploadRecord``).
  package var countsRecords = true
  /// Removed uploads that are remembered, so that their URLs are known to be gone.
  package var maxTombstones = 200_000

  /// Kept free on a file system of ordinary size, bytes.
  package static let reserve: UInt64 = 256 << 20
  /// What a spool takes at the least when nobody said how much, bytes.
  package static let leastSize: UInt64 = 1 << 30

  package init(
    name: String, path: String, maxSize: UInt64? = nil, minFree: UInt64? = nil,
    expireAfter: Duration = .seconds(86_400),
    maxAge: Duration = .seconds(7 * 86_400), isDurable: Bool = true, maxUploadsPerClient: Int = 100,
    maxSharePerClient: Int = 25
  ) {
    (self.name, self.path, self.maxSize, self.minFree) = (name, path, maxSize, minFree)
    (self.expireAfter, self.maxAge, self.isDurable) = (expireAfter, maxAge, isDurable)
    (self.maxUploadsPerClient, self.maxSharePerClient) = (maxUploadsPerClient, maxSharePerClient)
  }
}

/// Why a spool takes no new upload.
package enum UploadStoreRefusal: Error, Hashable, Sendable {
  /// No room now.
  case full
  /// Larger than the spool ever takes from one client.
  case tooLarge
  case tooManyUploads
  /// This client has its share of the spool.
  case clientShare
  case failed(StoreError)

  /// For the operator: which setting it was, or what the disk said.
  package var why: String {
    switch self {
    case .full: "no room: max-size, min-free or the disk"
    case .tooLarge: "larger than max-size or max-share-per-client allow"
    case .tooManyUploads: "max-uploads-per-client"
    case .clientShare: "max-share-per-client"
    case .failed(let error): "\(error)"
    }
  }
}
