import CLinux
import PawlBase
import PawlHTTP
import PawlUpload

/// The paths below which upload URLs are: those of the present settings, and those of URLs that were made under earlier
/// settings. Decides what may be an upload's URL, and hides the secret token of one in logs.
final class UploadURLs: Sendable {
  /// The most former paths that are remembered for the logs only: no upload in the catalogue has its URL below them, but the
  /// tokens of removed uploads must not be logged.
  static let rememberedLimit = 64
  /// The path of upload URLs if the settings name none.
  static let usual = Array("/.pawl/uploads/".utf8)

  /// The paths of the URLs of new uploads, of all sites; the longest first. Nothing below them is forwarded.
  let current: [[UInt8]]
  /// Further paths below which existing uploads have their URLs; the longest first. A request for another target below them is
  /// an ordinary request.
  let former: [[UInt8]]
  /// The paths below which tokens are hidden in logs: ``former``, and paths of still earlier settings.
  let remembered: [[UInt8]]
  /// The second byte of each path. Most targets differ in that byte, and need no further comparison.
  private let seconds: ByteSet
  private let hiddenSeconds: ByteSet
  private let all: [[UInt8]]

  /// Sorts and filters the paths. All paths must begin and end with `/` and have something between; other paths, which may come
  /// from a file, are left out.
  /// - Parameters:
  ///   - former: may contain some of `current`.
  ///   - remembered: the paths of former settings, the latest first; paths beyond ``rememberedLimit`` are forgotten.
  init(current: [[UInt8]] = [], former: [[UInt8]] = [], remembered: [[UInt8]] = []) {
    func others(_ paths: [[UInt8]]) -> [[UInt8]] {
      var seen = Set(current)
      return paths.filter { $0.count > 2 && $0.first == 0x2f && $0.last == 0x2f && seen.insert($0).inserted }
    }
    let (live, hidden) = (others(former), others(former + [Self.usual] + remembered))
    self.current = Set(current).sorted(by: Self.precedes)
    self.former = live.sorted(by: Self.precedes)
    self.remembered = Array(hidden.prefix(max(Self.rememberedLimit, live.count + 1)))
    all = (self.current + self.former).sorted(by: Self.precedes)
    seconds = ByteSet(all.map { $0[1] })
    hiddenSeconds = ByteSet((self.current + self.remembered).map { $0[1] })
  }

  private static func precedes(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count != other.count ? one.count > other.count : one.lexicographicallyPrecedes(other)
  }

  var isEmpty: Bool { all.isEmpty }

  /// Whether the target is below any of the paths, present or former.
  func mayHold(_ target: Bytes) -> Bool {
    guard target.count > 1, seconds.contains(target[target.startIndex + 1]) else { return false }
    return all.contains { target.starts(with: $0) }
  }

  /// Returns the tokens that the target may contain, if it is the URL of an upload or begins with such a URL. For each path
  /// with which the target begins (the longest path first), the token is the text after the path.
  func candidates(_ target: Bytes) -> [(prefix: [UInt8], token: UploadToken)] {
    all.compactMap { prefix in
      target.starts(with: prefix)
        ? Self.token(at: target.startIndex + prefix.count, in: target).map { (prefix, $0) } : nil
    }
  }

  /// Returns the tokens that the URL of a part may contain (tus 1.0.0, concatenation).
  func tokens(ofPart url: [UInt8]) -> [UploadToken] { all.compactMap { TusConcat.token(url, prefix: $0) } }

  /// Returns the token at an index, if the text there can be one. More text may follow the token; then the text is not an
  /// upload's URL, but still contains the secret.
  private static func token(at index: Int, in text: Bytes) -> UploadToken? {
    UploadToken(text[index...].prefix(UploadToken.count))
  }

  // MARK: Logs

  /// Returns a target or URL as it may be logged: below a path of uploads the token is replaced by `~` and the upload's ID, and
  /// the text after it is left out. `nil` when there is nothing to hide.
  func redacted(_ text: Bytes) -> [UInt8]? {
    var first = find(in: text)
    if Self.first(0x25, in: text, from: text.startIndex) != nil, let encoded = findEncoded(in: text),
      encoded.start < first?.start ?? .max
    {
      first = encoded
    }
    guard let hidden = first else { return nil }
    return Array(text[..<hidden.start]) + [0x7e] + Array((hidden.token.map { UploadNames.id($0).hex } ?? "").utf8)
  }

  /// The number of times that text is percent-decoded to find a URL in it.
  private static let decodings = 3

  /// Finds a token in a URL that is percent-encoded inside another URL, as scripts do it. The encoding may be complete or
  /// partial, and may be applied several times.
  private func findEncoded(in text: Bytes) -> (start: Int, token: UploadToken?)? {
    var decoded = (text: Array(text), places: Array(text.indices))
    var first: (start: Int, token: UploadToken?)?
    for _ in 0..<Self.decodings where decoded.text.contains(0x25) {
      decoded = Self.decoded(decoded.text, decoded.places)
      guard let found = find(in: decoded.text[...]) else { continue }
      let place = found.start < decoded.places.count ? decoded.places[found.start] : text.endIndex
      if place < first?.start ?? .max { first = (place, found.token) }
    }
    return first
  }

  private func find(in text: Bytes) -> (start: Int, token: UploadToken?)? {
    var index = text.startIndex
    // From slash to slash: each hit on the hot path has several texts that are searched.
    while let slash = Self.first(0x2f, in: text, from: index), slash + 1 < text.endIndex {
      if hiddenSeconds.contains(text[slash + 1]), let hidden = hidden(from: slash, in: text) { return hidden }
      index = slash + 1
    }
    return nil
  }

  private static func first(_ byte: UInt8, in text: Bytes, from start: Int) -> Int? {
    text[start...].withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, let found = memchr(base, CInt(byte), bytes.count) else { return nil }
      return start + (UnsafeRawPointer(found) - base)
    }
  }

  /// Percent-decodes a text, and returns with each byte the position that it came from.
  private static func decoded(_ text: [UInt8], _ places: [Int]) -> (text: [UInt8], places: [Int]) {
    var (output, origins): ([UInt8], [Int]) = ([], [])
    var index = 0
    while index < text.count {
      origins.append(places[index])
      if text[index] == 0x25, index + 2 < text.count, let high = text[index + 1].hexValue,
        let low = text[index + 2].hexValue
      {
        output.append(high << 4 | low)
        index += 3
      } else {
        output.append(text[index])
        index += 1
      }
    }
    return (output, origins)
  }

  /// Whether the target is below one of the paths only after percent-decoding (RFC 3986 §6.2.2). pawl never makes such a URL, so
  /// the request is refused and not forwarded.
  func isDisguised(_ target: Bytes) -> Bool {
    guard target.contains(0x25), !mayHold(target) else { return false }
    let plain = Self.decoded(Array(target), Array(target.indices)).text[...]
    return current.contains { plain.starts(with: $0) } || !candidates(plain).isEmpty
  }

  private func hidden(from index: Int, in text: Bytes) -> (start: Int, token: UploadToken?)? {
    let rest = text[index...]
    for prefix in remembered where rest.starts(with: prefix) {
      let start = index + prefix.count
      if let token = Self.token(at: start, in: text) { return (start, token) }
    }
    for prefix in current where rest.starts(with: prefix) {
      let start = index + prefix.count
      return (start, UploadToken(text[start...].prefix(UploadToken.count)))
    }
    return nil
  }
}
