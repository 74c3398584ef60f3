package import PawlDisk

/// The name of an upload: the first 16 bytes of the SHA-256 of its token.
package typealias UploadID = ObjectID

/// The settings of a spool: where it is, and how much it may use.
package struct UploadStoreSettings: Hashable, Sendable {
  /// `[spool:NAME]`.
  package var name: String
  /// The spool's own directory; created if it is missing.
  package var path: String
  /// Bytes for all uploads; `nil`: 10 % of the file system, but at least 1 GiB.
  package var maxSize: UInt64?
  /// Bytes that the spool leaves free on its file system; `nil`: ``reserve`` or 5 % of the file system, whichever is less.
  package var minFree: UInt64?
  /// How long after its last byte an incomplete upload is removed.
  package var expireAfter: Duration
  /// How long after its creation an incomplete upload is removed.
  package var maxAge: Duration
  /// Whether clients are told an offset only after its bytes are synced (`durability = data`).
  package var isDurable: Bool
  /// The most open uploads of one client.
  package var maxUploadsPerClient: Int
  /// Percent of the spool that one client may use.
  package var maxSharePerClient: Int
  /// The most answered uploads that are remembered. If there are more, the oldest are removed; uploads whose answer was delivered
  /// are removed before the others.
  package var maxAnswered = 50_000
  /// The most bytes of memory for answered uploads, without their answers; at most a quarter of it for one client.
  package var maxAnsweredMemory: UInt64 = 64 << 20
  /// Whether the records of uploads (``UploadRecord``) count against the limits of their client and of the spool.
  package var countsRecords = true
  /// The most removed uploads that are remembered, so that requests for them get 410.
  package var maxTombstones = 200_000

  /// Bytes that are kept free on a file system, unless 5 % of it are fewer bytes.
  package static let reserve: UInt64 = 256 << 20
  /// The least size of a spool whose size is not configured, in bytes.
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

extension UploadStoreSettings {
  /// - Parameter total: the size of the file system in bytes.
  func maxSize(of total: UInt64) -> UInt64 { maxSize ?? max(total / 10, Self.leastSize) }
  func minFree(of total: UInt64) -> UInt64 { minFree ?? min(Self.reserve, total / 20) }
}

/// Why a spool takes no new upload.
package enum UploadStoreRefusal: Error, Hashable, Sendable {
  /// There is no space now.
  case full
  /// The upload is larger than the spool, or than the share of one client.
  case tooLarge
  case tooManyUploads
  /// This client has used up its share of the spool.
  case clientShare
  case failed(StoreError)

  /// The reason for the operator: the setting, or the error of the disk.
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
