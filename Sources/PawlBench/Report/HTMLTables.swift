/// The tables of all settings and figures. Results are side by side, each with its ratio to the first.
enum HTMLTables {
  static func markup(_ results: [RunResult]) -> String {
    if results.count == 1 { return cards(results) }
    let heads = results.enumerated().map { index, result in
      """
      <th scope="col" class="s\(HTMLReport.colour(index))">\(results.count > 1 ? Plot.sample(HTMLReport.colour(index)) : "")\
      <span class="label">\(HTMLText.escaped(result.label))</span></th>\(index > 0 ? "<th scope=\"col\" class=\"ratio\">ratio</th>" : "")
      """
    }
    let groups = FigureGroup.Kind.allCases.map { figures($0, results) }.joined()
    return """
      <div class="scroll">
      <table class="figures">
      <thead><tr><td></td>\(heads.joined())</tr></thead>
      \(settings(results))\(groups)</table>
      </div>
      """
  }

  /// The tables for a single result: one for each group, arranged in columns.
  private static func cards(_ results: [RunResult]) -> String {
    let groups = [settings(results)] + FigureGroup.Kind.allCases.map { figures($0, results) }
    let cards = groups.filter { !$0.isEmpty }.map { "<table class=\"figures card\">\n\($0)</table>" }
    return "<div class=\"cards\">\n\(cards.joined(separator: "\n"))\n</div>"
  }

  private static func settings(_ results: [RunResult]) -> String {
    let names = inOrder(results.map { $0.settings.map(\.name) })
    let rows = names.map { name -> String in
      let values = results.map { result in
        let values = result.settings.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? Quantity.nothing : values.joined(separator: ", ")
      }
      let differs = Set(values).count > 1
      let cells = values.enumerated().map { index, value in
        "<td class=\"text\">\(HTMLText.escaped(value))</td>\(index > 0 ? "<td></td>" : "")"
      }
      return """
        <tr\(differs ? " class=\"differs\"" : "")><th scope="row">\(HTMLText.escaped(name))\
        \(differs ? " <em>differs</em>" : "")</th>\(cells.joined())</tr>
        """
    }
    return group("Settings", rows, results.count)
  }

  private static func figures(_ kind: FigureGroup.Kind, _ results: [RunResult]) -> String {
    let all = results.map { $0.figures(of: kind) }
    let rows = inOrder(all.map { $0.map(\.name) }).map { name -> String in
      let figures = all.map { $0.first { $0.name == name } }
      let cells = figures.enumerated().map { index, figure in
        let value = "<td>\(HTMLText.escaped(figure?.text ?? (kind == .failures ? "0" : Quantity.nothing)))</td>"
        return index == 0 ? value : value + ratio(figure, figures[0])
      }
      return "<tr><th scope=\"row\">\(HTMLText.escaped(name))</th>\(cells.joined())</tr>"
    }
    return group(kind.rawValue, rows, results.count)
  }

  private static func ratio(_ figure: ReportFigure?, _ base: ReportFigure?) -> String {
    guard let figure, let ratio = figure.ratio(to: base) else { return "<td class=\"ratio\"></td>" }
    var meaning = ""
    switch figure.better {
    case .lower?: meaning = ratio < 0.995 ? " better" : ratio > 1.005 ? " worse" : ""
    case .higher?: meaning = ratio > 1.005 ? " better" : ratio < 0.995 ? " worse" : ""
    case nil: break
    }
    return "<td class=\"ratio\(meaning)\">\(Quantity.ratio.text(ratio))</td>"
  }

  private static func group(_ title: String, _ rows: [String], _ count: Int) -> String {
    guard !rows.isEmpty else { return "" }
    return """
      <tbody>
      <tr class="group"><th scope="rowgroup" colspan="\(2 * count)">\(HTMLText.escaped(title))</th></tr>
      \(rows.joined(separator: "\n"))
      </tbody>

      """
  }

  /// Returns each name once, in the order in which the names first appear.
  private static func inOrder(_ lists: [[String]]) -> [String] {
    var seen = Set<String>()
    return lists.joined().filter { seen.insert($0).inserted }
  }
}
