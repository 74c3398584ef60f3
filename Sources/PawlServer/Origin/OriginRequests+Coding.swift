import PawlCache
import PawlHTTP

extension OriginRequests {
  /// Sets `Accept-Encoding` on a GET or HEAD that is passed on by a route with a cache, to the value that a fetch would have. So
  /// a client does not get parts of two codings.
  static func setAcceptEncoding(_ fields: inout Fields, _ request: IncomingRequest) {
    guard request.route.cache != nil else { return }
    if request.asksIdentity { fields.set(.acceptEncoding, "identity") }
    guard !request.rangeCoding.mayAskForRange else { return }
    fields.removeAll(.range)
    fields.removeAll(.ifRange)
  }
}
