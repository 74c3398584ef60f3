import PawlCache
import PawlHTTP

extension OriginRequests {
  /// Sets the same `Accept-Encoding` as in a fetch, for a GET or HEAD that is passed on, if the route has a cache. So a client
  /// does not get parts in two different codings.
  static func setAcceptEncoding(_ fields: inout Fields, _ request: IncomingRequest) {
    guard request.route.cache != nil else { return }
    if request.asksIdentity { fields.set(.acceptEncoding, "identity") }
    guard !request.rangeCoding.mayAskForRange else { return }
    fields.removeAll(.range)
    fields.removeAll(.ifRange)
  }
}
