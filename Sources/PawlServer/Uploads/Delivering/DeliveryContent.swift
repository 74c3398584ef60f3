import PawlHTTP
import PawlLoop
import PawlUploadStore
import PawlUpstream

/// The content of the request that delivers an upload: a prefix, the stored bytes, and a suffix.
///
/// The end is held back until the journal is written. For a form, the end is the complete suffix, because an application may act
/// as soon as it reads the closing delimiter, before the last byte.
final class DeliveryContent {
  private let prefix: [UInt8]
  private let feed: FileFeed
  /// The bytes held back until the journal is written: the suffix, or the last stored byte. Empty: there is no content.
  let heldBack: [UInt8]
  private var isBegun = false
  private(set) var isHandedOver = false

  /// - Parameter last: the last stored byte; `nil`: there is none.
  init(_ request: DeliveryRequest, _ body: UploadBody, last: UInt8?, on loopUploads: LoopUploads) {
    prefix = request.prefix
    let isRaw = request.suffix.isEmpty
    let end = isRaw && body.count > 0 ? body.count - 1 : body.count
    feed = FileFeed(body.fd, 0..<end, keeping: body.keeper, on: loopUploads.loop, pool: loopUploads.pool)
    heldBack = isRaw ? last.map { [$0] } ?? [] : request.suffix
  }

  /// Hands over as many bytes as the exchange takes. The caller calls this function again when the exchange takes more.
  /// - Returns: whether everything is handed over, except for ``heldBack``.
  func send(to exchange: OriginExchange, more: @escaping () -> Void) -> Bool {
    if !isBegun {
      isBegun = true
      guard give(prefix, to: exchange) else { return false }
    }
    guard !isHandedOver, feed.send(to: exchange, more: more) else { return isHandedOver }
    isHandedOver = true
    return true
  }

  func complete(_ exchange: OriginExchange) {
    guard !heldBack.isEmpty else { return exchange.releaseHead() }
    _ = give(heldBack, to: exchange)
  }

  private func give(_ bytes: [UInt8], to exchange: OriginExchange) -> Bool {
    bytes.isEmpty || bytes.withUnsafeBytes { exchange.sendBody($0) }
  }
}
