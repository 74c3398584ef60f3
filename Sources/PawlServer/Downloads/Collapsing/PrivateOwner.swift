import PawlCache
import PawlConfig
import PawlHTTP
import PawlTLS

/// Whom a kept response is for that is not for everybody (`resume-private`): what the request showed that the origin answered
/// with it, byte for byte, as hashes. What a token says of itself is not read: whoever makes one up can claim anything.
struct PrivateOwner: Equatable {
  /// What a request that names the response's tag may have of it.
  enum Access: Hashable {
    /// What is held, unasked.
    case open
    /// Nothing, before the origin has been asked with the request's own cookies and credentials.
    case ask
    /// It is not for this URL.
    case none
  }

  /// Of the URL.
  private var place: [UInt8]
  /// `owner = none` was written.
  private var isWhoeverHasTheTag: Bool
  /// A credential or a cookie, or what `owner` names.
  private var showsCredential: Bool
  /// One for each rule of `owner` that found something; ascending.
  private var marks: [[UInt8]] = []
  /// Of all cookies, where `owner` does not name those that count.
  private var cookies: [UInt8] = []
  /// Of the fields that the application may know and pawl does not.
  private var unknown: [UInt8] = []

  init(_ request: IncomingRequest) {
    let (rules, fields) = (request.route.owner, request.head.fields)
    place = SHA256.digest(Array(request.head.authority) + [0] + Array(request.head.target))
    isWhoeverHasTheTag = rules.isEmpty
    for rule in rules {
      // An empty one tells nobody from anybody.
      guard let value = Owner.value(of: rule, in: request), !value.isEmpty else { continue }
      marks.append(Owner.mark(value, by: rule))
    }
    marks.sort { $0.lexicographicallyPrecedes($1) }
    showsCredential = !marks.isEmpty || Credentials.areShown(in: fields)
    let namesCookies = rules.contains { if case .cookie = $0 { true } else { false } }
    if !namesCookies, let all = fields.combined(.cookie) { cookies = SHA256.digest(Array(all)) }
    unknown = SHA256.digest(Credentials.unknownFields(in: fields))
  }

  /// What `asker` may have of a response that was kept for this one.
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

  /// Whether a later request can be known to be of the same one.
  var isRecognisable: Bool { !marks.isEmpty || !showsCredential }

  // MARK: - In the catalogue

  private static let version: UInt8 = 2
  private static let digest = 32
  private enum Entry: UInt8 {
    case mark = 0x6f
    case cookies = 0x63
    case unknown = 0x75
  }

  /// A version, two flags, the digest of the URL, and then a kind and a digest each.
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

  /// `nil` for what pawl never wrote. What it wrote before there was a version says for which URL the response is, and is read
  /// as of somebody with a credential that nobody knows: everybody is asked about.
  init?(bytes: [UInt8]) {
    let entry = Self.digest + 1
    // One without a version is longer than whole entries by one digest: the two lengths never meet.
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
