/// The client and the path that a place at an upstream is counted for, as hashes (marks); 0: none.
package struct PlaceHolder: Hashable, Sendable {
  package var client: UInt64
  package var path: UInt64

  package static let nobody = PlaceHolder(client: 0, path: 0)

  package init(client: UInt64, path: UInt64) { (self.client, self.path) = (client, path) }
}

/// Counts and limits the places that each client and each path of an upstream holds, so that a slow client or a slow path cannot
/// take all of them.
package struct PlaceShares: Hashable {
  /// In an upstream with fewer places than this, one client or path may hold all of them.
  static let leastLimit = 4
  /// A place that is held for less than this time was held quickly. While the last place given back for a path was held quickly,
  /// ``pathLimit`` does not apply to that path.
  package static let quick = Duration.milliseconds(100)

  /// A share, with the mark (hash) of its client or path: the share of a client, of a path, or of those requests of a client whose
  /// content is still on its way.
  package enum Account: Hashable { case client(UInt64), path(UInt64), uploader(UInt64) }

  /// The most places of one client, and of one path; `.max`: all.
  let clientLimit: Int
  let pathLimit: Int
  /// The most places of one client for requests whose content is still on its way.
  let uploaderLimit: Int
  private let areKept: Bool
  /// The number of all places that are held.
  private var count = 0
  private var clients = MarkCounts()
  private var uploaders = MarkCounts()
  /// Places for each path. An entry is flagged while the last place given back for the path was held quickly (``quick``).
  private var paths = MarkCounts()

  /// - Parameters:
  ///   - limit: places in all; 0: no limit.
  ///   - clientShare: percent of them for one client.
  ///   - pathShare: percent of them for one path.
  package init(limit: Int, clientShare: Int, pathShare: Int) {
    func most(_ share: Int) -> Int {
      limit < Self.leastLimit || share >= 100 ? .max : max(1, limit * max(0, share) / 100)
    }
    (clientLimit, pathLimit) = (most(clientShare), most(pathShare))
    uploaderLimit = clientLimit == .max ? .max : max(1, limit / 2 * max(0, clientShare) / 100)
    areKept = clientLimit != .max || pathLimit != .max
  }

  /// Returns the share that is used up, so that this holder gets no more places; `nil`: no share is used up.
  package func full(_ holder: PlaceHolder, _ use: OriginUse = .passThrough) -> Account? {
    guard areKept else { return nil }
    if use == .upload, holder.client != 0, isFull(.uploader(holder.client)) { return .uploader(holder.client) }
    // While fewer places are held than the smaller of both limits, no share can be used up.
    guard count >= min(clientLimit, pathLimit) else { return nil }
    if holder.path != 0, isFull(.path(holder.path)) { return .path(holder.path) }
    return holder.client != 0 && isFull(.client(holder.client)) ? .client(holder.client) : nil
  }

  /// Whether the account holds all places that it may hold.
  package func isFull(_ account: Account) -> Bool {
    switch account {
    case .client(let mark): clients.count(of: mark) >= clientLimit
    case .path(let mark): paths.count(of: mark) >= pathLimit && !paths.isFlagged(mark)
    case .uploader(let mark): uploaders.count(of: mark) >= uploaderLimit
    }
  }

  /// Counts a place that is taken. Does not check the shares.
  package mutating func take(_ holder: PlaceHolder, _ use: OriginUse = .passThrough) {
    guard areKept else { return }
    count += 1
    if holder.client != 0 {
      clients.add(holder.client)
      if use == .upload { uploaders.add(holder.client) }
    }
    if holder.path != 0 { paths.add(holder.path) }
  }

  /// Counts a place that is given back.
  /// - Parameter isQuick: whether it was held for less than ``quick``.
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
