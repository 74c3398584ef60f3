/// Returns the candidate that a mistyped `word` most likely means; `nil` if none is similar.
///
/// Counts insertions, deletions, substitutions and swaps of neighbours, without regard to case. A candidate is similar if the
/// count is at most a third of the longer word's length.
func nearestMatch(_ word: String, among candidates: [String]) -> String? {
  let wanted = Array(word.lowercased().unicodeScalars)
  var best: (name: String, distance: Int)?
  for candidate in candidates {
    let scalars = Array(candidate.lowercased().unicodeScalars)
    let limit = max(1, max(wanted.count, scalars.count) / 3)
    guard abs(wanted.count - scalars.count) <= limit else { continue }
    let distance = editDistance(wanted, scalars)
    guard distance <= limit, distance < max(wanted.count, scalars.count) else { continue }
    if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
  }
  return best?.name
}

/// The optimal string alignment distance of two words.
func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
  var beforePrevious = [Int]()
  var previous = Array(0...b.count)
  for i in a.indices {
    var row = [i + 1]
    for j in b.indices {
      var cost = min(previous[j + 1] + 1, row[j] + 1, previous[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforePrevious[j - 1] + 1) }
      row.append(cost)
    }
    (beforePrevious, previous) = (previous, row)
  }
  return previous[b.count]
}
