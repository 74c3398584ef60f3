import PawlCache
import PawlConfig
import PawlHTTP
import PawlTLS

/// The owner of a response that is kept for one user (`resume-private`), as hashes of the credentials, cookies and other values of the
/// request that the origin answered. Values are compared byte for byte. The contents of a token are not read, because a forged token can
/// claim anything.
struct PrivateOwner: Equatable {
  /// What a request may have of a private response whose tag it names.
  enum Access: Hashable {
    /// The held bytes, without a question to the origin.
    case open
    /// Nothing, until the origin has been asked with the request's own cookies and credentials.
    case ask
    /// Nothing: the response is not for this URL.
    case none
  }

  /// The hash of the URL.
  private var place: [UInt8]
  /// Whether `owner = none` is configured. Then a request needs nothing but the tag.
  private var isWhoeverHasTheTag: Bool
  /// Whether the request shows a credential, a cookie, or a value that `owner` names.
  private var showsCredential: Bool
  /// One hash for each rule of `owner` that found a value; in ascending order.
  private var marks: [[UInt8]] = []
  /// The hash of all cookies. Empty if `owner` names the cookies that count.
  private var cookies: [UInt8] = []
  /// The hash of the fields that are unknown to pawl and may identify the user to the application.
  private var unknown: [UInt8] = []

  init(_ request: IncomingRequest) {
    let (rules, fields) = (request.route.owner, request.head.fields)
    place = SHA256.digest(Array(request.head.authority) + [0] + Array(request.head.target))
    isWhoeverHasTheTag = rules.isEmpty
    for rule in rules {
      // An empty value distinguishes no user from another.
      guard let value = Owner.value(of: rule, in: request), !value.isEmpty else { continue }
      marks.append(Owner.mark(value, by: rule))
    }
    marks.sort { $0.lexicographicallyPrecedes($1) }
    showsCredential = !marks.isEmpty || Credentials.areShown(in: fields)
    let namesCookies = rules.contains { if case .cookie = $0 { true } else { false } }
    if !namesCookies, let all = fields.combined(.cookie) { cookies = SHA256.digest(Array(all)) }
    unknown = SHA256.digest(Credentials.unknownFields(in: fields))
  }

  /// Returns what `asker` may have of a response that was kept for this owner.
  func access(for asker: PrivateOwner) -> Access {
    guard Owner.constantTimeEqual(place, asker.place[...]) else { return .none }
    if isWhoeverHasTheTag, asker.isWhoeverHasTheTag { return .open }
    if !marks.isEmpty {
      let (mine, others) = (marks.flatMap(\.self) + cookies, asker.marks.flatMap(\.self) + asker.cookies)
      return Owner.constantTimeEqual(mine, others[...]) ? .open : .ask
    }
    let isAnybodys = !showsCredential && !asker.showsCredential
    return isAnybodys && unknown == asker.unknown ? .open : .ask
  }

  /// Whether a later request can be recognised as a request of the same owner.
  var isRecognisable: Bool { !marks.isEmpty || !showsCredential }

  // MARK: - In the catalogue

  private static let version: UInt8 = 2
  private static let digest = 32
  private enum Entry: UInt8 {
    case mark = 0x6f
    case cookies = 0x63
    case unknown = 0x75
  }

  /// What the catalogue stores: a version, two flags and the digest of the URL; then, for each other digest, its kind and the digest.
  var bytes: [UInt8] {
    var output = [Self.version, (isWhoeverHasTheTag ? 1 : 0) | (showsCredential ? 2 : 0)] + place
    func append(_ kind: Entry, _ digest: [UInt8]) {
      if !digest.isEmpty { output += [kind.rawValue] + digest }
    }
    for mark in marks { append(.mark, mark) }
    append(.cookies, cookies)
    append(.unknown, unknown)
    return output
  }

  /// Reads what the catalogue stores; `nil` for bytes that pawl never wrote. An older format has no version. Of this format only the digest
  /// of the URL is used; the owner cannot be recognised, so the origin is asked about every request.
  init?(bytes: [UInt8]) {
    let entry = Self.digest + 1
    // The old format has 32 bytes and then entries of 33, the new format 34 bytes and then entries of 33. So their lengths are never equal.
    if bytes.count >= Self.digest, (bytes.count - Self.digest) % entry == 0 {
      (place, isWhoeverHasTheTag, showsCredential) = (Array(bytes.prefix(Self.digest)), false, true)
      return
    }
    let start = 2 + Self.digest
    guard bytes.count >= start, (bytes.count - start) % entry == 0, bytes[0] == Self.version, bytes[1] <= 3 else {
      return nil
    }
    place = Array(bytes[2..<start])
    (isWhoeverHasTheTag, showsCredential) = (bytes[1] & 1 != 0, bytes[1] & 2 != 0)
    for first in stride(from: start, to: bytes.count, by: entry) {
      let digest = Array(bytes[(first + 1)..<(first + entry)])
      switch Entry(rawValue: bytes[first]) {
      case .mark: marks.append(digest)
      case .cookies: cookies = digest
      case .unknown: unknown = digest
      case nil: return nil
      }
    }
  }
}
