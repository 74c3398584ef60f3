/// The most important figures, at the top of the page.
enum HTMLTiles {
  private struct Tile {
    var name: String
    /// One figure for each result, in order.
    var figures: [ReportFigure]
  }

  static func markup(_ results: [RunResult]) -> String {
    let tiles = tiles(results).filter { tile in tile.figures.contains { $0.value != nil } }
    let single = results.count == 1
    return """
      <div class="tiles\(single ? "" : " several")" style="--n:\(columns(tiles.count))">
      \(tiles.map { single ? one($0) : several($0, results) }.joined(separator: "\n"))
      </div>
      """
  }

  /// The number of columns, chosen so that all rows are full or almost full.
  private static func columns(_ count: Int) -> Int { count < 6 ? max(1, count) : count == 6 || count == 9 ? 3 : 4 }

  private static func tiles(_ results: [RunResult]) -> [Tile] {
    func tile(_ name: String, _ figure: (RunResult) -> ReportFigure) -> Tile {
      Tile(name: name, figures: results.map(figure))
    }
    func latency(_ result: RunResult, _ name: String) -> ReportFigure {
      result.figures(of: .latency).first { $0.name == name } ?? ReportFigure(name, nil, .microseconds)
    }
    let many = Set(results.map(\.words.many)).count == 1 ? results.first?.words.many ?? "requests" : "operations"
    let one = String(many.dropLast())
    return [
      tile("\(many.prefix(1).uppercased())\(many.dropFirst()) a second", \.requestsPerSecond),
      tile("Throughput", \.throughput),
      tile("Median latency") { latency($0, "50 %") },
      tile("99th percentile") { latency($0, "99 %") },
      tile("99.9th percentile") { latency($0, "99.9 %") },
      tile("CPU a \(one)", \.cpuPerRequest), tile("CPU a GB", \.cpuPerGigabyte), tile("Memory, peak", \.memoryPeak),
    ]
  }

  private static func one(_ tile: Tile) -> String {
    "<div class=\"tile\"><h3>\(HTMLText.escaped(tile.name))</h3>\(value(tile.figures[0]))</div>"
  }

  /// The value of a tile. Its unit is written smaller than the number.
  private static func value(_ figure: ReportFigure) -> String {
    let text = figure.text
    let end = text.firstIndex { $0 == " " || $0 == "/" } ?? text.endIndex
    let unit = text[end...].drop { $0 == " " }
    return
      "<p class=\"value\">\(HTMLText.escaped(String(text[..<end])))<small>\(HTMLText.escaped(String(unit)))</small></p>"
  }

  /// A bar for each result. The largest value has the longest bar.
  private static func several(_ tile: Tile, _ results: [RunResult]) -> String {
    let largest = tile.figures.compactMap(\.value).max() ?? 0
    let best = tile.figures[0].better == .higher ? largest : tile.figures.compactMap(\.value).min()
    let rows = tile.figures.enumerated().map { index, figure -> String in
      let width = largest > 0 ? (figure.value ?? 0) / largest * 100 : 0
      let ratio = index == 0 ? nil : figure.ratio(to: tile.figures[0])
      return """
        <tr class="s\(HTMLReport.colour(index))\(figure.value != nil && figure.value == best ? " best" : "")">\
        <th scope="row">\(HTMLText.escaped(results[index].label))</th>\
        <td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">\
        <rect class="fill" width="\(Plot.number(max(width, figure.value == nil ? 0 : 0.8)))" height="10"/></svg></td>\
        <td>\(HTMLText.escaped(figure.text))</td><td class="ratio">\(ratio.map(Quantity.ratio.text) ?? "")</td></tr>
        """
    }
    let better = tile.figures[0].better == .higher ? "more is better" : "less is better"
    return """
      <div class="tile"><h3>\(HTMLText.escaped(tile.name)) <small>\(better)</small></h3>
      <table><tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
      """
  }
}
