import PawlHTTP
import PawlUpload

extension ServerLoop {
  /// Who answers a request that is about an upload, or has content that is spooled first (protocols 9.1). `nil`: a request
  /// like any other. Costs reads outside of the upload prefix next to nothing.
  func makeUploadExchange(for request: IncomingRequest, channel: any ResponseChannel) -> (any Exchange)? {
    let head = request.head
    if let route = router.uploadRoute(authority: head.authority, target: head.target) {
      request.route = route
      request.isBelowPrefix = true
    }
    let isRead = (head.method == .get || head.method == .head) && head.framing == .none
    if isRead, !request.isBelowPrefix { return nil }
    guard let uploads = request.route.uploads ?? joining(request) else { return spooled(request, channel) }
    switch UploadDispatch.kind(of: head, uploads.dispatch) {
    case .plain: return spooled(request, channel)
    case .foreign: return nil
    case .small:
      request.hidesUploadFields = true
      return spooled(request, channel)
    case .creation(let creation, let dialect):
      return UploadExchange(.creation(creation), dialect, request, channel: channel)
    case .resource(let token, let command, let dialect):
      return UploadExchange(.resource(token, command), dialect, request, channel: channel)
    case .refused(let refusal, let dialect, let token):
      return UploadExchange(.refused(refusal, token), dialect, request, channel: channel)
    case .discovery: return OptionsExchange(request, channel: channel)
    }
  }

  /// Whether the content is for an upload that a client knows already.
  func appends(_ head: RequestHead) -> Bool {
    guard
      let uploads = router.uploadRoute(authority: head.authority, target: head.target)?.uploads,
      case .resource(_, .append, _) = UploadDispatch.kind(of: head, uploads.dispatch)
    else { return false }
    return true
  }

  /// Parts that are here are joined here, whatever is said of new uploads now: nobody else has them.
  private func joining(_ request: IncomingRequest) -> UploadRoute? {
    guard !router.urls.isEmpty, let urls = TusRequest.parts(request.head),
      let part = urls.lazy.compactMap({ self.router.findPart($0) }).first,
      let spool = router.held.spool(of: part)
    else { return nil }
    request.route = router.held.route(
      request.route, finishing: part.origin.prefix ?? UploadURLs.usual, in: spool, lending: request.route)
    return request.route.uploads
  }

  private func spooled(_ request: IncomingRequest, _ channel: any ResponseChannel) -> (any Exchange)? {
    guard let spool = request.route.plainSpool, SpooledForwardExchange.takes(request.head) else { return nil }
    return SpooledForwardExchange(request, channel: channel, spool: spool, maxUpload: request.route.maxUpload)
  }
}

extension IncomingRequest {
  /// What pages of other origins may read of the answer (`cors`): what is about uploads, and nothing else of the origin.
  func dressForOthers(_ head: inout ResponseHead) {
    guard let cors = route.uploads?.cors else { return }
    let isRead = self.head.method == .get || self.head.method == .head
    if isBelowPrefix || !isRead && CORSPolicy.isAboutUploads(self.head.fields) {
      cors.dress(&head, for: self.head.fields)
    }
  }
}
