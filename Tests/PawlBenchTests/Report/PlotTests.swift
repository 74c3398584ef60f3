import Testing

@testable import PawlBench

@Suite("Plots") struct PlotTests {
  private func plot(_ lines: [Plot.Line], hints: [Plot.Hint] = []) -> Plot {
    Plot(
      title: "A <title>", note: "a & b", x: PlotScale(upTo: 10, .seconds), xLabel: "time",
      y: PlotScale(upTo: 100, .percent), yLabel: "CPU", lines: lines, hints: hints)
  }

  @Test("draw each run of points from left to right, and nothing between two runs")
  func lines() {
    let markup = plot([
      .init(name: "a", colour: 2, runs: [[.init(x: 0, y: 0), .init(x: 5, y: 100)], [.init(x: 10, y: 50)]])
    ]).markup()
    #expect(
      markup.contains(
        "<g class=\"s2\"><path class=\"line\" d=\"M62 220L272 26\"/><path class=\"line\" d=\"M482 123h0.1\"/></g>"))
  }

  @Test("name their axes and their lines; one line needs no legend")
  func legend() {
    let (one, two) = (Plot.Line(name: "a<b", colour: 0, runs: []), Plot.Line(name: "c", colour: 1, runs: []))
    #expect(!plot([one]).markup().contains("legend"))
    let markup = plot([one, two]).markup()
    #expect(markup.contains("a&lt;b</li>") && markup.contains("<h3>A &lt;title&gt;</h3><p>a &amp; b</p>"))
    #expect(markup.contains(">CPU</text>") && markup.contains(">time</text>") && markup.contains(">20 %</text>"))
    #expect(markup.contains("aria-label=\"A &lt;title&gt;: CPU by time\""))
  }

  @Test("tint the area below a line that is to be filled, and mark points with the shape of its colour")
  func decorations() {
    let point = Plot.Point(x: 5, y: 50)
    let shapes = (0..<8).map { colour in
      plot([.init(name: "a", colour: colour, runs: [[point]], marks: [point], isFilled: true)]).markup()
    }
    #expect(shapes.allSatisfy { $0.contains("<path class=\"area\" d=\"M272 220L272 123L272 220Z\"/>") })
    #expect(shapes.prefix(4).allSatisfy { $0.contains("class=\"mark\"") })
    #expect(shapes.suffix(4).allSatisfy { $0.contains("class=\"mark hollow\"") })
    #expect(shapes[0].contains("<circle") && !shapes[1].contains("<circle"))
  }

  @Test("say what is under the pointer, with a line for each value")
  func hints() {
    let markup = plot([], hints: [.init(from: 0, to: 5, lines: ["5 s", "a<b: 7"])]).markup()
    #expect(
      markup.contains(
        "<rect class=\"hint\" x=\"62\" y=\"26\" width=\"210\" height=\"194\"><title>5 s\na&lt;b: 7</title></rect>"))
  }

  @Test("leave out texts of ticks that would run into each other")
  func crowdedTicks() {
    var crowded = plot([])
    crowded.x = PlotScale(
      .linear, low: 0, high: 100, ticks: (0...100).map { .init(value: Double($0), text: "tick \($0)") })
    let markup = crowded.sized(.full).markup()
    #expect(markup.contains(">tick 0<") && !markup.contains(">tick 1<") && markup.contains("viewBox=\"0 0 1044 400\""))
  }
}
