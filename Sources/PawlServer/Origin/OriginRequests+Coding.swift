import PawlCache
import PawlHTTP

extension OriginRequests {
  /// A GET or HEAD that goes to the origin as it is, where a cache is on: what is asked for has the coding that a fetch
  /// would have, so that a client is not given parts of two.
  static func setAcceptEncoding(_ fields: inout Fields, _ request: IncomingRequest) {
    guard request.route.cache != nil else { return }
    if request.asksIdentity { fields.set(.acceptEncoding, "identity") }
    guard !request.rangeCoding.mayAskForRange else { return }
    fields.removeAll(.range)
    fields.removeAll(.ifRange)
  }
}
