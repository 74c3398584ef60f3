import PawlCache
import PawlCacheStore
import PawlCoding
import PawlHTTP
import PawlLoop

/// Compresses content on its way to the client.
extension AnswerCoding {
  /// Compresses the content of one response while it is sent, if the request takes a coding; `head` is changed to match.
  /// - Parameter body: `nil`: a response to HEAD.
  static func onItsWay(
    _ body: (any BodySource)?, _ length: ContentLength, under head: inout ResponseHead, to request: IncomingRequest,
    isForEverybody: Bool = false
  ) -> (body: (any BodySource)?, length: ContentLength) {
    let count: UInt64? = if case .known(let count) = length { count } else { nil }
    // A response to HEAD has no content of its own, but describes the content that a GET would get.
    guard length != .none || request.head.method == .head, depends(head, length: count, on: request) else {
      return (body, length)
    }
    guard let coding = choose(for: request, head, length: count, isForEverybody: isForEverybody) else {
      head.fields.addVaryAcceptEncoding()
      return (body, length)
    }
    return coded(body, length, under: &head, in: coding, for: request)
  }

  /// Compresses the content in a given coding, if there is memory for one more encoder.
  static func coded(
    _ body: (any BodySource)?, _ length: ContentLength, under head: inout ResponseHead, in coding: ContentCoding,
    for request: IncomingRequest
  ) -> (body: (any BodySource)?, length: ContentLength) {
    guard let body else {
      become(&head, coding)
      return (nil, .unknown)
    }
    guard let (share, coding) = share(of: request, coding),
      let stream = stream(body, in: coding, share, request)
    else {
      head.fields.addVaryAcceptEncoding()
      return (body, length)
    }
    become(&head, coding)
    return (stream, .unknown)
  }

  /// Compresses content that is here in full.
  /// - Returns: the compressed content; `nil`: the content is sent as it is.
  static func whole(
    _ content: UnsafeRawBufferPointer, under head: inout ResponseHead, to request: IncomingRequest
  ) -> [UInt8]? {
    guard depends(head, length: UInt64(content.count), on: request) else { return nil }
    guard let coding = choose(for: request, head, length: UInt64(content.count), isForEverybody: false),
      let (share, taken) = share(of: request, coding)
    else {
      head.fields.addVaryAcceptEncoding()
      return nil
    }
    defer { share.giveBack() }
    var output: [UInt8] = []
    do throws(CodingError) {
      let encoder = try ContentEncoder(taken, effort: .streamed)
      try encoder.encode(content, into: &output)
      try encoder.finish(into: &output)
    } catch {
      failed(error, request)
      head.fields.addVaryAcceptEncoding()
      return nil
    }
    become(&head, taken)
    return output
  }

  private static func become(_ head: inout ResponseHead, _ coding: ContentCoding) {
    head.fields.becomeCoded(in: coding)
    head.fields.removeAll(.acceptRanges)
  }

  /// Takes memory for an encoder of the coding, or, if there is too little memory, for an encoder of gzip.
  private static func share(
    of request: IncomingRequest, _ coding: ContentCoding
  ) -> (CodingMemory.Share, ContentCoding)? {
    let (memory, client) = (request.loop.shared.codingMemory, PlaceMarks.client(of: request))
    if let share = memory.take(for: coding, isKept: false, client: client) { return (share, coding) }
    guard coding != .gzip, request.route.compression?.codings.contains(.gzip) == true,
      AcceptEncoding(request.head.fields).accepts(.gzip),
      let share = memory.take(for: .gzip, isKept: false, client: client)
    else { return nil }
    return (share, .gzip)
  }

  private static func stream(
    _ body: any BodySource, in coding: ContentCoding, _ share: CodingMemory.Share, _ request: IncomingRequest
  ) -> CodedStream? {
    do throws(CodingError) {
      return try CodedStream(body, in: coding, share: share, on: request.loop)
    } catch {
      failed(error, request)
      return nil
    }
  }

  private static func failed(_ error: CodingError, _ request: IncomingRequest) {
    request.loop.events.log(.warning, "coding-failed", ["route": request.route.name, "why": "\(error)"])
  }
}

extension StoredResponse {
  /// Returns the same response with a coded form as its body.
  func form(_ body: StoredBody, in coding: ContentCoding) -> StoredResponse {
    StoredResponse(head: head.coded(in: coding), body: body, storedAt: storedAt)
  }
}
