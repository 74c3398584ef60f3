import Testing

@testable import PawlBench

@Suite("Key figures of a page") struct HTMLTilesTests {
  @Test("of one result are large numbers with small units")
  func one() {
    let markup = HTMLTiles.markup([MadeUpResults.small])
    #expect(markup.contains("<h3>Requests a second</h3><p class=\"value\">500<small></small></p>"))
    #expect(markup.contains("<h3>99th percentile</h3><p class=\"value\">991<small>µs</small></p>"))
    #expect(markup.contains("<h3>Throughput</h3><p class=\"value\">500<small>KiB/s</small></p>"))
    #expect(markup.contains("<h3>CPU a request</h3>") && markup.contains("style=\"--n:4\""))
  }

  @Test("that were not measured are left out")
  func missing() {
    var result = MadeUpResults.small
    result.process = nil
    let markup = HTMLTiles.markup([result])
    #expect(!markup.contains("CPU") && !markup.contains("Memory") && markup.contains("style=\"--n:5\""))
  }

  @Test("of several are bars with their ratio to the first; the best one stands out")
  func several() {
    var fast = MadeUpResults.small
    fast.label = "fast"
    fast.counts.completed = 2000
    let markup = HTMLTiles.markup([MadeUpResults.small, fast])
    #expect(markup.contains("<tr class=\"s0\"><th scope=\"row\">pawl</th>"))
    #expect(markup.contains("<tr class=\"s1 best\"><th scope=\"row\">fast</th>"))
    #expect(markup.contains("<td>1,000</td><td class=\"ratio\">2.00×</td></tr>"))
    #expect(markup.contains("<rect class=\"fill\" width=\"50\" height=\"10\"/>"))
    #expect(markup.contains("more is better") && markup.contains("less is better"))
  }
}
