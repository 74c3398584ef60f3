import PawlCache
import PawlHTTP

extension OriginRequests {
  /// Asks the origin for the same content coding as a fetch into the cache would, in a GET or HEAD that goes past the cache.
  ///
  /// Sets `Accept-Encoding: identity` where a fetch does. Removes `Range` and `If-Range` if it is unknown in which coding the
  /// range counts bytes. So a client does not get parts in two different codings. Does nothing if the route has no cache.
  static func setAcceptEncoding(_ fields: inout Fields, _ request: IncomingRequest) {
    guard request.route.cache != nil else { return }
    if request.asksIdentity { fields.set(.acceptEncoding, "identity") }
    guard !request.rangeCoding.mayAskForRange else { return }
    fields.removeAll(.range)
    fields.removeAll(.ifRange)
  }
}
