import PawlHTTP
import PawlWire

/// What a request that asks for a representation as it is, or for one range of it, looks for; whatever it came over.
struct HotRequest {
  let authority: Bytes
  let target: Bytes
  let hasCookie: Bool
  /// Whether a proxy in front may say what its client speaks, or how it named the site.
  let namesScheme: Bool
}

extension HotRequest {
  init(_ get: PlainGet, in buffer: [UInt8]) {
    self.init(
      authority: buffer[get.authority], target: buffer[get.target], hasCookie: get.hasCookie,
      namesScheme: get.namesScheme)
  }
}
