import Testing

@testable import PawlBench

@Suite("All figures of a page") struct HTMLTablesTests {
  @Test("of one result stand in a table for each group")
  func one() {
    let markup = HTMLTables.markup([MadeUpResults.small])
    #expect(markup.split(separator: "<table").count == 8 && !markup.contains("ratio"))
    #expect(markup.contains("<tr><th scope=\"row\">CPU a request</th><td>5.50 µs</td></tr>"))
  }

  @Test("of several stand beside each other, with ratios to the first and whether they are better")
  func several() {
    var other = MadeUpResults.small
    other.settings = [("connections", "32"), ("header", "a: b"), ("header", "c: d")]
    other.process = .init(processes: 2, user: 0.004, system: 0.007, before: 10 << 20, peak: 6 << 20, after: 11 << 20)
    other.counts.failures = ["cut": 4]
    let markup = HTMLTables.markup([MadeUpResults.small, other])
    #expect(
      markup.contains(
        "<th scope=\"row\">CPU a request</th><td>5.50 µs</td><td>11 µs</td><td class=\"ratio worse\">2.00×</td></tr>")
    )
    #expect(markup.contains("<td>12 MiB</td><td>6 MiB</td><td class=\"ratio better\">0.50×</td></tr>"))
    #expect(markup.contains("<tr class=\"differs\"><th scope=\"row\">connections <em>differs</em></th>"))
    #expect(markup.contains("<td class=\"text\">–</td><td class=\"text\">a: b, c: d</td><td></td>"))
    #expect(markup.contains("<th scope=\"row\">cut</th><td>0</td><td>4</td><td class=\"ratio\"></td></tr>"))
    #expect(markup.contains("<th scope=\"row\">timeout</th><td>1</td><td>0</td><td class=\"ratio\"></td></tr>"))
  }
}
