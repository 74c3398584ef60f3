import PawlBase
import PawlHTTP
import PawlUpload

/// Below which paths uploads have their URLs: those of the settings of now, and those under which URLs were given out
/// before. Decides what may be an upload's URL, and hides the secret part of one.
final class UploadURLs: Sendable {
  /// Former paths that no upload needs any more are remembered up to so many, so that no log shows what stood below them.
  static let rememberedLimit = 64
  /// Where URLs live that nobody has said another place for.
  static let usual = Array("/.pawl/uploads/".utf8)

  /// Where new uploads get their URLs, over all sites; the longest first. Nothing below these is forwarded.
  let current: [[UInt8]]
  /// Where uploads that are still there have theirs, besides; the longest first. What else is below them is anybody's.
  let former: [[UInt8]]
  /// Where only a token is looked for, to be hidden: ``former``, and what was former before.
  let remembered: [[UInt8]]
  /// The bytes behind the first `/`: most targets have another one there, and are looked at no further.
  private let seconds: ByteSet
  private let hiddenSeconds: ByteSet
  private let all: [[UInt8]]

  /// All paths begin and end with `/`, and have something between; what was read from a disk and does not is left out.
  /// - Parameters:
  ///   - former: may hold some of `current`.
  ///   - remembered: of the settings before, the latest first; those beyond ``rememberedLimit`` are forgotten.
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

  /// Whether the target is below any of the paths, of now or before.
  func mayHold(_ target: Bytes) -> Bool {
    guard target.count > 1, seconds.contains(target[target.startIndex + 1]) else { return false }
    return all.contains { target.starts(with: $0) }
  }

  /// What the target may be the URL of, or begin with the URL of: for each path that it is below, the longest first, the
  /// token that follows.
  func candidates(_ target: Bytes) -> [(prefix: [UInt8], token: UploadToken)] {
    all.compactMap { prefix in
      target.starts(with: prefix)
        ? Self.token(at: target.startIndex + prefix.count, in: target).map { (prefix, $0) } : nil
    }
  }

  /// What the URL of a part may be (tus 1.0.0, concatenation).
  func tokens(ofPart url: [UInt8]) -> [UploadToken] { all.compactMap { TusConcat.token(url, prefix: $0) } }

  /// What stands there, if a token may; also with something behind it, which makes it no URL and still a secret.
  private static func token(at index: Int, in text: Bytes) -> UploadToken? {
    UploadToken(text[index...].prefix(UploadToken.count))
  }

  // MARK: Logs

  /// A target or URL as it may be shown: below a path of uploads the token is replaced by `~` and the upload's ID, and
  /// what follows is left out. `nil` when there is nothing to hide.
  func redacted(_ text: Bytes) -> [UInt8]? {
    var first = find(in: text)
    if text.contains(0x25), let encoded = findEncoded(in: text), encoded.start < first?.start ?? .max {
      first = encoded
    }
    guard let hidden = first else { return nil }
    return Array(text[..<hidden.start]) + [0x7e] + Array((hidden.token.map { UploadNames.id($0).hex } ?? "").utf8)
  }

  /// How often text is percent-decoded to find a URL in it.
  private static let decodings = 3

  /// As scripts write a URL into another one: in parts percent-encoded, perhaps more than once.
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
    while index + 1 < text.endIndex {
      if text[index] == 0x2f, hiddenSeconds.contains(text[index + 1]), let hidden = hidden(from: index, in: text) {
        return hidden
      }
      index += 1
    }
    return nil
  }

  /// With each byte the place that it came from.
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

  /// Whether the target is another spelling of one that is below these paths (RFC 3986 §6.2.2): no client of pawl writes it,
  /// and it is not forwarded either.
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
