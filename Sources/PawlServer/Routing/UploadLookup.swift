import PawlBase
import PawlLoop
import PawlUploadStore

/// Finds uploads in all open spools, and the routes of uploads that were created under other settings.
final class UploadLookup: Sendable {
  enum Place {
    case none
    /// An upload had this identifier, but does not exist any more.
    case tombstone(OpenSpool)
    case live(SpooledUpload, OpenSpool)
  }

  private struct Key: Hashable {
    let route: ObjectIdentifier?
    let spool: String
    let prefix: [UInt8]
  }

  /// All open spools; those that sites use come first.
  private let spools: [OpenSpool]
  /// The sites that do not exist any more.
  let retired: Router?
  /// The routes for uploads that were created under other settings, each made when it is first needed. There is at most one for
  /// each combination of route, spool and path.
  private let routes = Locked<[Key: RouteSettings]>([:])

  init(_ spools: [OpenSpool] = [], retired: [Router.Site] = []) {
    (self.spools, self.retired) = (spools, retired.isEmpty ? nil : Router(sites: retired))
  }

  /// Finds an upload.
  /// - Parameter store: the store to search first.
  func find(_ id: UploadID, near store: UploadStore? = nil) -> Place {
    // Each store is searched only one time, because another loop may remove the upload a moment later.
    if let store, let upload = store.find(id), let spool = spool(of: upload) { return .live(upload, spool) }
    for spool in spools where spool.store !== store {
      if let upload = spool.store.find(id) { return .live(upload, spool) }
    }
    return spools.first { $0.store.isTombstone(id) }.map(Place.tombstone) ?? .none
  }

  func spool(of upload: SpooledUpload) -> OpenSpool? { spools.first { $0.store.holds(upload) } }

  /// Returns a copy of a route for certain uploads: those of a spool whose URLs are below a path.
  /// - Parameters:
  ///   - route: the route; `nil`: it does not exist any more.
  ///   - any: any route, which then lends the values that a new route must have.
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
