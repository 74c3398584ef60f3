import PawlCache
import PawlHTTP

/// Whose request a fetch is: its fields and its client's address, by which a request is recognised that differs from it in nothing but
/// the range it wants.
struct Asker: Sendable {
  private let client: [UInt8]
  private let fields: Fields

  /// - Parameter request: a GET.
  init(_ request: IncomingRequest) { (client, fields) = (request.facts.text, request.head.fields) }

  var hasCredential: Bool { RequestFields.hasCredential(fields) }

  /// Whether the answer is, by the request alone, for nobody else: to wait for it would be in vain.
  var sharesNothing: Bool { hasCredential || CacheControl(fields).noStore }

  /// Whether what the answer is made of may be this one user's, so that it says nothing of what others get.
  var isPersonal: Bool { sharesNothing || RequestFields.isPersonal(fields) }

  /// Whether `request` asks for a range of what this one asked for, from the same address and with the same fields but `Range`: one
  /// client, on several connections.
  func isLike(_ request: IncomingRequest) -> Bool {
    let others = request.head.fields
    guard request.head.method == .get, others.contains(.range), client == request.facts.text else { return false }
    let own = fields.lines.filter { $0.name != .range }
    let their = others.lines.filter { $0.name != .range }
    return own.count == their.count
      && zip(own, their).allSatisfy { a, b in
        fields.name(a).equalsIgnoringCase(others.name(b)) && fields.value(a) == others.value(b)
      }
  }

  /// Whether `request` comes from the same address and shows the same cookies, credentials and whatever else an application may know its
  /// client by: browsers ask for the pieces of a download with other fields than for its beginning.
  func isSameClient(as request: IncomingRequest) -> Bool {
    let others = request.head.fields
    return client == request.facts.text && hasSameCookies(request)
      && fields.all(.authorization) == others.all(.authorization)
      && fields.all(.proxyAuthorization) == others.all(.proxyAuthorization)
      && Credentials.unknownFields(in: fields) == Credentials.unknownFields(in: others)
  }

  /// Whether both have the same cookies, or none.
  func hasSameCookies(_ request: IncomingRequest) -> Bool {
    fields.all(.cookie) == request.head.fields.all(.cookie)
  }
}

/// Who asked for what is being fetched, and whether the answer was personal: what decides who else may have it while it comes.
struct Sharing: Sendable {
  let asker: Asker
  /// The answer set cookies.
  let isPersonal: Bool
}
