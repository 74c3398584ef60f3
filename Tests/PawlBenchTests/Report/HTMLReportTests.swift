import Testing

@testable import PawlBench

@Suite("Results as a page") struct HTMLReportTests {
  private static let hostile = "<script>alert(\"1\")</script>&'"

  /// Every element that is opened is closed, in order; the texts of style and script are passed over.
  private func isWellFormed(_ page: String) -> Bool {
    var open: [Substring] = []
    var rest = page[...].drop { $0 != "\n" }
    while let start = rest.firstIndex(of: "<") {
      guard let end = rest[start...].firstIndex(of: ">") else { return false }
      let tag = rest[start..<end].dropFirst()
      rest = rest[end...].dropFirst()
      let name = tag.drop { $0 == "/" }.prefix { $0 != " " && $0 != "/" }
      if tag.hasSuffix("/") { continue }
      if tag.hasPrefix("/") {
        guard open.popLast() == name else { return false }
        continue
      }
      open.append(name)
      guard name == "style" || name == "script" else { continue }
      guard let close = rest.firstRange(of: "</\(name)>") else { return false }
      rest = rest[close.lowerBound...]
    }
    return open.isEmpty
  }

  @Test("are well-formed with one, two and nine of them", arguments: [1, 2, 9])
  func wellFormed(_ count: Int) {
    let page = HTMLReport.text((0..<count).map { MadeUpResults.large("server \($0)", seed: UInt64($0)) })
    #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">") && page.hasSuffix("</html>\n"))
    #expect(isWellFormed(page) && !page.contains("nan") && !page.contains("inf,"))
    // The ninth has the first one's colour again.
    #expect(!page.contains("class=\"s8\""))
  }

  @Test("need nothing from elsewhere")
  func selfContained() {
    let page = HTMLReport.text([MadeUpResults.small, MadeUpResults.large("b", seed: 2)])
    for outside in ["src=", "href=", "@import", "url(", "//cdn", "fetch("] { #expect(!page.contains(outside)) }
    #expect(page.contains("prefers-color-scheme: dark") && page.contains("@media print"))
  }

  @Test("show texts from outside as they are")
  func escaping() {
    var result = MadeUpResults.small
    (result.label, result.url, result.scenario) = (Self.hostile, Self.hostile, Self.hostile)
    result.settings = [(Self.hostile, Self.hostile)]
    result.extras = [.init(Self.hostile, 1, Self.hostile)]
    result.counts.failures = [Self.hostile: 1]
    for results in [[result], [result, result]] {
      let page = HTMLReport.text(results)
      #expect(!page.contains("<script>alert") && !page.contains("\"1\"") && isWellFormed(page))
      #expect(page.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;"))
    }
  }

  @Test("say whether everything was right")
  func verdict() {
    var result = MadeUpResults.small
    #expect(HTMLReport.text([result]).contains("✕</span> 3 of 1,003 failed</p>"))
    result.counts.failures = [:]
    #expect(HTMLReport.text([result]).contains("✓</span> all 1,000 right</p>"))
    result.counts.completed = 0
    #expect(HTMLReport.text([result]).contains("✕</span> nothing completed</p>"))
  }

  @Test("are titled by the scenario and by who ran it")
  func titles() {
    let names = ["a", "b", "c", "d", "e"]
    let results = names.map { MadeUpResults.large($0, seed: 1, seconds: 2) }
    #expect(HTMLReport.title([results[0]]) == "Cached hits: a")
    #expect(HTMLReport.title(Array(results[..<2])) == "Cached hits: a and b")
    #expect(HTMLReport.title(Array(results[..<3])) == "Cached hits: a, b and c")
    #expect(HTMLReport.title(results) == "Cached hits: a, b and 3 others")
    #expect(
      HTMLReport.title([results[0], MadeUpResults.large("b", seed: 1, scenario: "fill")])
        == "Several scenarios: a and b")
  }

  @Test("without any measurement still make a page")
  func empty() {
    let page = HTMLReport.text([RunResult(scenario: "idle", label: "a", url: "http://a/", startedAt: 0)])
    #expect(isWellFormed(page) && !page.contains("<h2>Plots</h2>") && page.contains("nothing completed"))
  }
}
