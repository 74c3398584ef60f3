import PawlHTTP
import PawlUpstream
import PawlWire

/// A request beside one that is answered from what is stored, which tells by the head of its answer whether the origin compresses that for
/// such requests. Nothing of its content is read. Lives on its loop until it is answered.
final class CodingQuestion: FetchHeadSink, DownloadJob {
  private let request: IncomingRequest
  private let owner: LoopDownloads
  private var fetch: OriginFetch?

  /// Asks; see ``AnswerCoding/isToAskBeside(_:length:for:)``.
  static func ask(beside request: IncomingRequest, on owner: LoopDownloads) {
    let copy = request.inBackground()
    copy.asksOwnCoding = true
    let question = CodingQuestion(copy, owner)
    owner.fetches[ObjectIdentifier(question)] = question
    question.start()
  }

  private init(_ request: IncomingRequest, _ owner: LoopDownloads) { (self.request, self.owner) = (request, owner) }

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
    owner.fetches[ObjectIdentifier(self)] = nil
  }
}
