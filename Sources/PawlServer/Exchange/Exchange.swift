import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream

/// One request and everything that answers it. The kinds are ``ForwardExchange``, ``DownloadExchange``, ``UploadExchange`` and
/// others.
///
/// Lives on the loop of its connection; holds the connection's channel until it has answered.
protocol Exchange: AnyObject {
  func start()
  /// Takes content of the request; the bytes are valid during the call. Returns `false` if no more may come until the exchange
  /// calls ``ResponseChannel/resumeRequestBody()``.
  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool
  func requestBodyEnded(_ trailers: Fields)
  /// Frees everything, since the client's connection broke or the response was aborted.
  func clientLeft()
  /// Called when the socket has taken the complete response.
  func responseSent()
  /// Bytes of the request's content that the origin has got, where the exchange passes it on.
  var contentPassedOn: UInt64? { get }
  /// Called when the server begins to drain: ends what the client can go on with elsewhere. Does nothing for all else, which runs
  /// to its end.
  func endEarly()
}

extension Exchange {
  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool { true }
  func requestBodyEnded(_ trailers: Fields) {}
  func endEarly() {}
  var contentPassedOn: UInt64? { nil }
}

/// The way by which an exchange answers, in every version of HTTP.
protocol ResponseChannel: AnyObject {
  /// Sends an interim response other than 101; dropped for clients that do not support it.
  func interim(_ head: ResponseHead)
  /// Sends the final response. The channel pulls `body` as the client reads it.
  func respond(_ head: consuming ResponseHead, length: ContentLength, body: (any BodySource)?)
  /// Sends the final response with all of its content, whose bytes are valid during the call.
  func respond(_ head: consuming ResponseHead, content: UnsafeRawBufferPointer)
  /// Replaces the request by a changed one (``IncomingRequest``), which is logged in its place.
  func goesOn(as request: IncomingRequest)
  /// Lets the content of the request go on, since the exchange takes it again.
  func resumeRequestBody()
  /// Sends the 101 of the origin; from now on bytes are relayed between the client and `stream`.
  /// - Parameters:
  ///   - stream: the connection to the origin.
  ///   - leftover: bytes that came from the origin after the 101.
  ///   - holding: an object that is kept alive as long as the tunnel lasts.
  func upgrade(_ head: ResponseHead, to stream: SocketStream, leftover: [UInt8], holding: AnyObject)
  var hasResponded: Bool { get }
  /// Whether the client has sent FIN. Such a client may still read.
  var hasClientEnded: Bool { get }
  /// Makes the channel read and drop the rest of unwanted request content, within limits, since many clients do not read the
  /// answer before they have sent everything. Call this before the answer.
  func drainRequestBody()
  /// Ends the connection abruptly, without an answer.
  func abandon(_ end: BodyEnd)
}

extension ResponseChannel {
  func goesOn(as request: IncomingRequest) {}

  func respond(_ head: consuming ResponseHead, content: UnsafeRawBufferPointer) {
    respond(head, length: .known(UInt64(content.count)), body: MemoryBody(Array(content)))
  }

  /// Sends a complete reply of pawl.
  func reply(_ reply: Replies.Reply) {
    respond(reply.head, length: .known(UInt64(reply.body.count)), body: MemoryBody(reply.body))
  }

  /// Sends the error response for an origin that gave no usable response, and logs the error.
  func fail(_ request: IncomingRequest, _ error: ProxyError) {
    request.record.end = BodyEnd(party: .origin, reason: error.kind.rawValue)
    if error.kind == .connectionLimitReached {
      let isLive = error.details == OriginExchange.liveLimitDetails
      request.loop.counters.add(isLive ? .rejectedLive : .rejectedQueue)
    }
    request.loop.shared.failures.note(error, request)
    let upstream = request.isTrustedPeer ? request.route.upstreamName : nil
    reply(Replies.failure(error, upstream: upstream, requestID: request.requestID))
  }
}
