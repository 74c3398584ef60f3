/// On whose account a place at an upstream is held. Marks are hashes; 0: nobody's.
package struct PlaceHolder: Hashable, Sendable {
  package var client: UInt64
  package var path: UInt64

  package static let nobody = PlaceHolder(client: 0, path: 0)

  package init(client: UInt64, path: UInt64) { (self.client, self.path) = (client, path) }
}

/// How many places each client and each path of an upstream holds, and how many it may: so that nobody who is slow, and
/// nothing that is, takes all of them.
package struct PlaceShares: Hashable {
  /// An upstream with fewer places than this has no shares.
  static let leastLimit = 4
  /// Whoever gives a place back within this time keeps it from nobody.
  package static let quick = Duration.milliseconds(100)

  /// Whose share is taken: a client's, a path's, or a client's of what requests have whose content is on its way; by its mark.
  package enum Account: Hashable { case client(UInt64), path(UInt64), uploader(UInt64) }

  /// The most places of one client, and of one path; `.max`: all.
  let clientLimit: Int
  let pathLimit: Int
  /// The most of one client for requests whose content is on its way.
  let uploaderLimit: Int
  private let areKept: Bool
  /// Places held, of all.
  private var count = 0
  private var clients = MarkCounts()
  private var uploaders = MarkCounts()
  /// Flagged: the last answer gave its place back soon. Nothing is slow there, and it may have all that its clients may.
  private var paths = MarkCounts()

  /// - Parameters:
  ///   - limit: places in all; 0: as many as anybody wants.
  ///   - clientShare: percent of them.
  ///   - pathShare: percent of them.
  package init(limit: Int, clientShare: Int, pathShare: Int) {
    func most(_ share: Int) -> Int {
      limit < Self.leastLimit || share >= 100 ? .max : max(1, limit * max(0, share) / 100)
    }
    (clientLimit, pathLimit) = (most(clientShare), most(pathShare))
    uploaderLimit = clientLimit == .max ? .max : max(1, limit / 2 * max(0, clientShare) / 100)
    areKept = clientLimit != .max || pathLimit != .max
  }

  /// What keeps this holder from another place; `nil`: nothing.
  package func full(_ holder: PlaceHolder, _ use: OriginUse = .passThrough) -> Account? {
    guard areKept else { return nil }
    if use == .upload, holder.client != 0, isFull(.uploader(holder.client)) { return .uploader(holder.client) }
    // As long as all together hold less than one may, nobody holds too much.
    guard count >= min(clientLimit, pathLimit) else { return nil }
    if holder.path != 0, isFull(.path(holder.path)) { return .path(holder.path) }
    return holder.client != 0 && isFull(.client(holder.client)) ? .client(holder.client) : nil
  }

  /// Whether the account holds all that it may.
  package func isFull(_ account: Account) -> Bool {
    switch account {
    case .client(let mark): clients.count(of: mark) >= clientLimit
    case .path(let mark): paths.count(of: mark) >= pathLimit && !paths.isFlagged(mark)
    case .uploader(let mark): uploaders.count(of: mark) >= uploaderLimit
    }
  }

  /// A place is taken, above a share or not.
  package mutating func take(_ holder: PlaceHolder, _ use: OriginUse = .passThrough) {
    guard areKept else { return }
    count += 1
    if holder.client != 0 {
      clients.add(holder.client)
      if use == .upload { uploaders.add(holder.client) }
    }
    if holder.path != 0 { paths.add(holder.path) }
  }

  /// A place is free again.
  /// - Parameter isQuick: it was held for a short time only (``quick``).
  package mutating func giveBack(_ holder: PlaceHolder, _ use: OriginUse = .passThrough, isQuick: Bool) {
    guard areKept else { return }
    count -= 1
    if holder.client != 0 {
      clients.remove(holder.client)
      if use == .upload { uploaders.remove(holder.client) }
    }
    if holder.path != 0 { paths.remove(holder.path, flag: isQuick) }
  }
}
