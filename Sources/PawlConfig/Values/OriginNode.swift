/// One `url` of an upstream: its address, and its share of the requests.
package struct OriginNode: Hashable, Sendable, CustomStringConvertible {
  /// The valid values of `weight=`.
  static let weights = 1...1000

  package var url: OriginURL
  /// The node's share of the requests is its weight divided by the sum of all weights.
  package var weight = 1
  /// Whether the node is a backup: used only while every node that is not a backup is resting.
  package var isBackup = false

  package init(_ url: OriginURL) { self.url = url }

  package var description: String {
    url.description + (weight == 1 ? "" : " weight=\(weight)") + (isBackup ? " backup" : "")
  }

  /// Splits a line into URLs, each with the options that follow it.
  static func split(_ line: String) -> [String] {
    var nodes: [String] = []
    for word in line.split(whereSeparator: { $0 == " " || $0 == "\t" }) {
      // A word with a colon is a URL, perhaps without its scheme (`HOST:PORT`), and not an option.
      if let last = nodes.last, !word.contains(":") {
        nodes[nodes.count - 1] = "\(last) \(word)"
      } else {
        nodes.append(String(word))
      }
    }
    return nodes.isEmpty ? [line] : nodes
  }
}

extension ValueFormat where Value == OriginNode {
  static var originNode: ValueFormat {
    let url = ValueFormat<OriginURL>.originURL
    return ValueFormat(url.expected, show: \.description) {
      (text: String, directory: String) throws(BadValue) -> OriginNode in
      let words = text.split(separator: " ")
      var node = OriginNode(try url.read(words.first.map(String.init) ?? "", directory))
      var seen: Set<Substring> = []
      for word in words.dropFirst() {
        let name = word.prefix { $0 != "=" }
        if !seen.insert(name).inserted { throw BadValue("\(name) stands twice behind \(node.url)") }
        try read(word, into: &node)
      }
      return node
    }
  }

  private static func read(_ word: Substring, into node: inout OriginNode) throws(BadValue) {
    if word == "backup" { return node.isBackup = true }
    guard word.hasPrefix("weight=") else {
      throw BadValue(
        expected: "weight=NUMBER or backup behind a URL", found: String(word),
        suggestion: nearestMatch(String(word.prefix { $0 != "=" }), among: ["weight", "backup"]))
    }
    let format = ValueFormat<Int>.count(OriginNode.weights)
    do throws(BadValue) {
      node.weight = try format.read(String(word.dropFirst("weight=".count)), "")
    } catch { throw BadValue(expected: "weight=NUMBER, \(format.expected)", found: String(word)) }
  }
}

extension ValueFormat where Value == ClosedRange<Int> {
  /// One status of a response, or a range of statuses (RFC 9110 §15).
  static var statuses: ValueFormat {
    ValueFormat(
      "a status such as 200, or a range such as 200-399",
      show: { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
    ) { text in
      let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        .map { Quantity.number($0).flatMap { Int(exactly: $0) } }
      guard let first = ends.first.flatMap({ $0 }), let last = ends.last.flatMap({ $0 }), first <= last,
        first >= 200, last <= 599
      else { return nil }
      return first...last
    }
  }
}
