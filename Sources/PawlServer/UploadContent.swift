import PawlHTTP
import PawlLoop
import PawlStore
import PawlUpstream

/// The content of an upload's one request, on its way: what stands before the stored bytes, these, what stands behind
/// them; without the last byte of all.
final class UploadContent {
  private let prefix: [UInt8]
  private let feed: FileFeed
  private let suffix: [UInt8]
  /// Held back until the journal says that it may go; `nil`: there is no content.
  let last: UInt8?
  private var isBegun = false
  private(set) var isHandedOver = false

  /// - Parameter last: of the stored bytes.
  init(_ request: UploadRequest, _ body: UploadBody, last: UInt8?, on owner: ServerLoop) {
    prefix = request.prefix
    let isRaw = request.suffix.isEmpty
    let end = isRaw && body.count > 0 ? body.count - 1 : body.count
    feed = FileFeed(body.fd, 0..<end, keeping: body.owner, on: owner.loop, pool: owner.pool)
    suffix = Array(request.suffix.dropLast())
    self.last = isRaw ? last : request.suffix.last
  }

  /// Hands over as much as the exchange takes; to be called again when it wants more.
  /// - Returns: whether everything but the last byte is handed over.
  func send(to exchange: OriginExchange, more: @escaping () -> Void) -> Bool {
    if !isBegun {
      isBegun = true
      guard give(prefix, to: exchange) else { return false }
    }
    guard !isHandedOver, feed.send(to: exchange, more: more) else { return isHandedOver }
    isHandedOver = true
    _ = give(suffix, to: exchange)
    return true
  }

  func sendLast(to exchange: OriginExchange) {
    guard let last else { return exchange.releaseHead() }
    _ = give([last], to: exchange)
  }

  private func give(_ bytes: [UInt8], to exchange: OriginExchange) -> Bool {
    bytes.isEmpty || bytes.withUnsafeBytes { exchange.sendBody($0) }
  }
}
