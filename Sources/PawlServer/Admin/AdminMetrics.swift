import PawlHTTP
import PawlObserve

/// `/metrics` and `/transfers`.
enum AdminMetrics {
  static let routes: [AdminRoute] = [
    .get("/metrics", metrics), .get("/transfers", transfers), .get("/v1/transfers", transfers),
  ]

  private static func metrics(_ exchange: AdminExchange) {
    let accept = exchange.request.head.fields.combined(.accept).map { String(decoding: $0, as: UTF8.self) }
    let format = MetricsFormat(accept: accept)
    exchange.reply(AdminReply("\(format.mediaType)", exchange.actions.metrics().text(format)).with("Vary", "Accept"))
  }

  private static func transfers(_ exchange: AdminExchange) {
    let query: TransferQuery
    do throws(TransferQuery.Fault) { query = try TransferQuery(target: exchange.request.head.target) } catch {
      return exchange.reply(.problem(400, error.reason))
    }
    let accept = exchange.request.head.fields.combined(.accept) ?? []
    guard !String(decoding: accept, as: UTF8.self).lowercased().contains("text/event-stream") else {
      guard let stream = exchange.admin.feed.subscribe(query) else {
        return exchange.reply(
          .problem(503, "There are \(TransferFeed.subscriberLimit) event streams already; end one of them."))
      }
      return exchange.stream("text/event-stream", stream)
    }
    var page = TransferPage()
    TransferGathering(query, from: exchange.actions.transferSources, on: exchange.services.loop) {
      page.add($0)
    } done: {
      page.end($0)
      exchange.reply(AdminReply(AdminReply.json, page.takeLine()))
    }
  }
}
