/// Writes one or more results as a page that needs no other files. The page uses no network, is readable without scripts, and has
/// a light and a dark form.
package enum HTMLReport {
  /// The number of results with different colours and shapes; further results reuse them.
  static let colours = 8

  static func colour(_ index: Int) -> Int { index % colours }

  /// Returns the page. The other results are compared with the first one.
  package static func text(_ results: [RunResult]) -> String {
    let title = Self.title(results)
    let latency = LatencyPlots(results: results)
    let overTime = TimePlots(results).all
    // The last plot takes the full width if it would be alone in its row.
    let spread = latency.spread.map { $0.sized(overTime.count.isMultiple(of: 2) ? .full : .half) }
    let plots = ([latency.byPercentile] + overTime + [spread]).compactMap(\.self)
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8"/>
      <meta name="viewport" content="width=device-width, initial-scale=1"/>
      <meta name="color-scheme" content="light dark"/>
      <meta name="generator" content="pawl-bench"/>
      <title>\(HTMLText.escaped(title)) – pawl-bench</title>
      <style>
      \(HTMLStyle.text)
      </style>
      </head>
      <body>
      <main>
      \(header(results))
      \(section("Key figures", HTMLTiles.markup(results)))
      \(plots.isEmpty ? "" : section("Plots", "<div class=\"plots\">\n\(plots.map { $0.markup() }.joined())</div>"))
      \(section("All figures", HTMLTables.markup(results)))
      \(footer(results))
      </main>
      <div id="hint" hidden="hidden"></div>
      <script>
      \(HTMLScript.text)
      </script>
      </body>
      </html>

      """
  }

  /// The title, which is seen in a list of pages: `pawl`, `pawl and nginx`, `pawl, nginx and 3 others`.
  static func title(_ results: [RunResult]) -> String {
    let names = results.map(\.label)
    let subject =
      switch names.count {
      case 0: "nothing"
      case 1: names[0]
      case 2: "\(names[0]) and \(names[1])"
      case 3: "\(names[0]), \(names[1]) and \(names[2])"
      default: "\(names[0]), \(names[1]) and \(names.count - 2) others"
      }
    return "\(scenarios(results)): \(subject)"
  }

  private static func scenarios(_ results: [RunResult]) -> String {
    let titles = results.map(\.words.title)
    return titles.first.map { first in titles.allSatisfy { $0 == first } ? first : "Several scenarios" } ?? "Results"
  }

  private static func header(_ results: [RunResult]) -> String {
    let runs = results.enumerated().map { index, result in
      """
      <li class="s\(colour(index))">\(results.count > 1 ? Plot.sample(colour(index)) : "")\
      <div><b class="label">\(HTMLText.escaped(result.label))</b> \
      <code>\(HTMLText.escaped(result.url))</code>\
      <span class="when">\(HTMLText.escaped(TableReport.when(result)))</span></div>\(verdict(result))</li>
      """
    }
    return """
      <header>
      <p class="over">pawl-bench <span>\(HTMLText.escaped(results.first?.scenario ?? ""))</span></p>
      <h1>\(HTMLText.escaped(title(results)))</h1>
      <ul class="runs">
      \(runs.joined(separator: "\n"))
      </ul>
      </header>
      """
  }

  /// The verdict on one result, as a sign, a text and a colour.
  private static func verdict(_ result: RunResult) -> String {
    let isRight = result.failed == 0 && result.counts.completed > 0
    let all = Quantity.count.text(result.counts.completed &+ result.failed)
    let text =
      isRight
      ? "all \(all) right"
      : result.failed > 0 ? "\(Quantity.count.text(result.failed)) of \(all) failed" : "nothing completed"
    return """
      <p class="verdict \(isRight ? "right" : "wrong")" title="\(HTMLText.escaped(TableReport.verdict(result)))">\
      <span aria-hidden="true">\(isRight ? "✓" : "✕")</span> \(HTMLText.escaped(text))</p>
      """
  }

  private static func section(_ title: String, _ content: String) -> String {
    "<section>\n<h2>\(HTMLText.escaped(title))</h2>\n\(content)\n</section>"
  }

  private static func footer(_ results: [RunResult]) -> String {
    let several = results.count > 1 ? "Ratios are against \(results[0].label), the first result. " : ""
    return """
      <footer>
      <p>\(HTMLText.escaped(several))A latency counts from when the request was due (with a rate) or sent (without one) to \
      the last byte of its answer. CPU and memory are those of the server’s process and its children, from the kernel’s \
      own accounting; memory that processes share counts once. Content is counted without heads. 1 KiB is 1,024 bytes, \
      1 GB is 1,000,000,000.</p>
      </footer>
      """
  }
}
