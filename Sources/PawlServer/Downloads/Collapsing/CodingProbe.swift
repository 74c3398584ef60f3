import PawlHTTP
import PawlUpstream
import PawlWire

/// A second request to the origin, for a request that is answered from the cache. The head of its response shows whether the origin
/// compresses such responses; its content is not read. Lives on its loop until the head comes.
final class CodingProbe: FetchHeadSink, DownloadJob {
  private let request: IncomingRequest
  private let downloads: LoopDownloads
  private var fetch: OriginFetch?

  /// Sends the request; see ``AnswerCoding/isToAskBeside(_:length:for:)``.
  static func ask(beside request: IncomingRequest, on downloads: LoopDownloads) {
    let copy = request.inBackground()
    copy.asksOwnCoding = true
    let question = CodingProbe(copy, downloads)
    downloads.fetches[ObjectIdentifier(question)] = question
    question.start()
  }

  private init(_ request: IncomingRequest, _ downloads: LoopDownloads) {
    (self.request, self.downloads) = (request, downloads)
  }

  private func start() {
    let fetch = OriginFetch(for: request, base: OriginRequests.fetch(request), use: .fill, for: .head(self))
    self.fetch = fetch
    fetch.start(adding: [])
  }

  func fetch(_ fetch: OriginFetch, interim head: ResponseHead) {}

  func fetch(_ fetch: OriginFetch, head: ResponseHead, framing: BodyFraming) {
    AnswerCoding.learn(head, framing, to: request)
    AnswerCoding.askedBeside(request)
    end()
  }

  func fetch(_ fetch: OriginFetch, gotNoAnswer failure: OriginFailure) {
    AnswerCoding.gotNoAnswer(request)
    AnswerCoding.askedBeside(request)
    end()
  }

  func stop() { end() }

  private func end() {
    fetch?.cancel()
    fetch = nil
    downloads.fetches[ObjectIdentifier(self)] = nil
  }
}
