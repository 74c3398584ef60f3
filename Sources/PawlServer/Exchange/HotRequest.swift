import PawlHTTP
import PawlWire

/// The parts of a plain GET that the look-up on the hot path uses, in every version of HTTP.
struct HotRequest {
  let authority: Bytes
  let target: Bytes
  let hasCookie: Bool
  /// Whether the request has a field in which a proxy gives the client's scheme or host.
  let namesScheme: Bool
}

extension HotRequest {
  init(_ get: PlainGet, in buffer: [UInt8]) {
    self.init(
      authority: buffer[get.authority], target: buffer[get.target], hasCookie: get.hasCookie,
      namesScheme: get.namesScheme)
  }
}
