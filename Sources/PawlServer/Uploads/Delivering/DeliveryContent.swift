import PawlHTTP
import PawlLoop
import PawlUploadStore
import PawlUpstream

/// The content of an upload's one request, on its way: what stands before the stored bytes, these, and what stands
/// behind them. What makes it whole is held back: readers of forms act on the closing delimiter, not on its last byte.
final class DeliveryContent {
  private let prefix: [UInt8]
  private let feed: FileFeed
  /// Held back until the journal says that it may go: what stands behind the stored bytes, or else the last of them.
  /// Empty: there is no content.
  let heldBack: [UInt8]
  private var isBegun = false
  private(set) var isHandedOver = false

  /// - Parameter last: of the stored bytes.
  init(_ request: DeliveryRequest, _ body: UploadBody, last: UInt8?, on loopUploads: LoopUploads) {
    prefix = request.prefix
    let isRaw = request.suffix.isEmpty
    let end = isRaw && body.count > 0 ? body.count - 1 : body.count
    feed = FileFeed(body.fd, 0..<end, keeping: body.owner, on: loopUploads.loop, pool: loopUploads.pool)
    heldBack = isRaw ? last.map { [$0] } ?? [] : request.suffix
  }

  /// Hands over as much as the exchange takes; to be called again when it wants more.
  /// - Returns: whether everything is handed over but what is held back.
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
