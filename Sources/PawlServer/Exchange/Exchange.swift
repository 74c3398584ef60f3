import PawlHTTP
import PawlLoop

/// One request and its answer: the kinds are ``ForwardExchange``, ``DownloadExchange``, ``UploadExchange`` and others.
/// Lives on the loop of its connection; holds the connection's channel until it has answered.
protocol Exchange: AnyObject {
  func start()
  /// Content of the request, valid during the call. `false`: no more until `resumeRequestBody`.
  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool
  func requestBodyEnded(_ trailers: Fields)
  /// The client's connection broke, or the response was aborted: let go of everything.
  func clientLeft()
  /// The response has been handed to the socket in full.
  func responseSent()
}

extension Exchange {
  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool { true }
  func requestBodyEnded(_ trailers: Fields) {}
}

/// What an exchange answers through, whatever version of HTTP the client speaks.
protocol ResponseChannel: AnyObject {
  /// A 1xx other than 101; dropped for clients that cannot take it.
  func interim(_ head: ResponseHead)
  /// The final answer. The channel pulls `body` as the client takes it.
  func respond(_ head: consuming ResponseHead, length: ContentLength, body: (any BodySource)?)
  /// The final answer, all of whose content is here; the bytes are valid during the call.
  func respond(_ head: consuming ResponseHead, content: UnsafeRawBufferPointer)
  /// The request goes on as another one (``IncomingRequest``): that is logged.
  func goesOn(as request: IncomingRequest)
  /// The exchange can take request content again.
  func resumeRequestBody()
  /// 101: the connection's bytes belong to `tunnel` from now on.
  /// `holding` is kept as long as the tunnel lasts.
  func upgrade(_ head: ResponseHead, to stream: SocketStream, leftover: [UInt8], holding: AnyObject)
  var hasResponded: Bool { get }
  /// The client has sent its FIN: whether it still reads, nobody knows.
  var hasClientEnded: Bool { get }
  /// Before the answer to a request whose content is not wanted: what is left of it is read and dropped within limits,
  /// since many clients do not read before they have sent.
  func drainRequestBody()
  /// Ends the connection abruptly, without an answer.
  func abandon(_ end: BodyEnd)
}

extension ResponseChannel {
  func goesOn(as request: IncomingRequest) {}

  func respond(_ head: consuming ResponseHead, content: UnsafeRawBufferPointer) {
    respond(head, length: .known(UInt64(content.count)), body: MemoryBody(Array(content)))
  }

  /// A complete answer of pawl's own.
  func reply(_ reply: Replies.Reply) {
    respond(reply.head, length: .known(UInt64(reply.body.count)), body: MemoryBody(reply.body))
  }

  /// The origin gave no usable answer: says so to the client, and to the log.
  func fail(_ request: IncomingRequest, _ error: ProxyError) {
    request.record.end = BodyEnd(party: .origin, reason: error.kind.rawValue)
    request.loop.shared.failures.note(error, request)
    reply(Replies.failure(error, upstream: request.route.upstreamName, requestID: request.requestID))
  }
}
