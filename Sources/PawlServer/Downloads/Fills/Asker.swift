import PawlCache
import PawlHTTP

/// The request for which a fetch runs: its fields, and its client's address. They show whether another request differs from this one only
/// in its range.
struct Asker: Sendable {
  private let client: [UInt8]
  private let fields: Fields

  /// - Parameter request: a GET.
  init(_ request: IncomingRequest) { (client, fields) = (request.facts.text, request.head.fields) }

  var hasCredential: Bool { RequestFields.hasCredential(fields) }

  /// Whether the request itself shows that its response cannot be used for other requests. Then no other request waits for the response.
  var sharesNothing: Bool { hasCredential || CacheControl(fields).noStore }

  /// Whether the response may depend on this one user. Such a response says nothing about the responses to other users.
  var isPersonal: Bool { sharesNothing || RequestFields.isPersonal(fields) }

  /// Whether `request` asks for a range, from the same address and with the same fields except `Range` as the request of this fetch. Such
  /// requests come from one client that fetches a body over several connections.
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

  /// Whether `request` comes from the same address, and shows the same cookies, credentials and other fields by which an application may
  /// recognise its client. Other fields may differ: browsers send different ones for the beginning of a download and for its pieces.
  func isSameClient(as request: IncomingRequest) -> Bool {
    let others = request.head.fields
    return client == request.facts.text && hasSameCookies(request)
      && fields.all(.authorization) == others.all(.authorization)
      && fields.all(.proxyAuthorization) == others.all(.proxyAuthorization)
      && Credentials.unknownFields(in: fields) == Credentials.unknownFields(in: others)
  }

  /// Whether both requests have the same cookies, or none.
  func hasSameCookies(_ request: IncomingRequest) -> Bool {
    fields.all(.cookie) == request.head.fields.all(.cookie)
  }
}

/// The request for which a response is fetched, and whether the response was personal. These two values decide which other requests may
/// have the response while it comes.
struct Sharing: Sendable {
  let asker: Asker
  /// Whether the response set cookies.
  let isPersonal: Bool
}
