import PawlBase
import PawlLoop
import PawlUploadStore

/// Where all uploads are, and how those go on that were made under other settings than those of now.
final class UploadLookup: Sendable {
  enum Place {
    case none
    /// There was one.
    case tombstone(OpenSpool)
    case live(SpooledUpload, OpenSpool)
  }

  private struct Key: Hashable {
    let route: ObjectIdentifier?
    let spool: String
    let prefix: [UInt8]
  }

  /// All that are open, those that sites use first.
  private let spools: [OpenSpool]
  /// Sites that are no more.
  let retired: Router?
  /// Routes as they are for such uploads, made when they are first needed: as many as routes, spools and paths there are.
  private let routes = Locked<[Key: RouteSettings]>([:])

  init(_ spools: [OpenSpool] = [], retired: [Router.Site] = []) {
    (self.spools, self.retired) = (spools, retired.isEmpty ? nil : Router(sites: retired))
  }

  /// - Parameter store: is looked at first.
  func find(_ id: UploadID, near store: UploadStore? = nil) -> Place {
    // Each is asked once: what is there now may have been removed by another loop a moment later.
    if let store, let upload = store.find(id), let spool = spool(of: upload) { return .live(upload, spool) }
    for spool in spools where spool.store !== store {
      if let upload = spool.store.find(id) { return .live(upload, spool) }
    }
    return spools.first { $0.store.isTombstone(id) }.map(Place.tombstone) ?? .none
  }

  func spool(of upload: SpooledUpload) -> OpenSpool? { spools.first { $0.store.holds(upload) } }

  /// A route as it is for uploads of a spool that have their URLs below a path.
  /// - Parameters:
  ///   - route: `nil`: there is none any more.
  ///   - any: what it is made of then.
  func route(
    _ route: RouteSettings?, finishing prefix: [UInt8], in spool: OpenSpool, lending any: RouteSettings
  ) -> RouteSettings {
    let key = Key(route: route.map(ObjectIdentifier.init), spool: spool.settings.path, prefix: prefix)
    return routes.withLock { routes in
      if let known = routes[key] { return known }
      let made =
        route.map { RouteSettings($0, finishing: prefix, in: spool) }
        ?? RouteSettings(orphansOf: spool, below: prefix, lending: any)
      routes[key] = made
      return made
    }
  }
}
