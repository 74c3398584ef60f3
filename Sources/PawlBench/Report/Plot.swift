/// A plot with lines over two axes, drawn as SVG. Colours come from the style of the page, in which colour `n` is the class `sn`.
struct Plot {
  struct Line {
    var name: String
    /// The index of the colour in the page.
    var colour: Int
    /// Connected runs of points; between two runs the values are not known.
    var runs: [[Point]]
    /// Points that are marked with the line's shape.
    var marks: [Point] = []
    /// Whether the area below the line is tinted.
    var isFilled = false
  }

  struct Point: Hashable {
    var x: Double
    var y: Double
  }

  /// The text that is shown while the pointer is over a part of the x axis.
  struct Hint {
    var from: Double
    var to: Double
    var lines: [String]
  }

  enum Size { case full, half }

  var title: String
  /// A sentence that explains the plot.
  var note: String
  var size = Size.half
  var x: PlotScale
  var xLabel: String
  var y: PlotScale
  var yLabel: String
  var lines: [Line]
  var hints: [Hint]

  private struct Box {
    let left: Double
    let top = 26.0
    let right: Double
    let bottom: Double
    let width: Double
    let height: Double
  }

  private var box: Box {
    let (width, height) = size == .full ? (1044.0, 400.0) : (510.0, 264.0)
    // The left margin is wide enough for the longest text, and the same in most plots.
    let longest = y.ticks.map(\.text.count).max() ?? 0
    return Box(
      left: max(62, Double(longest) * 7 + 14), right: width - 28, bottom: height - 44, width: width, height: height)
  }

  func sized(_ size: Size) -> Plot {
    var plot = self
    plot.size = size
    return plot
  }

  func markup() -> String {
    let box = box
    let names =
      lines.count < 2
      ? [] : lines.map { "<li class=\"s\($0.colour)\">\(Self.sample($0.colour))\(HTMLText.escaped($0.name))</li>" }
    return """
      <figure class="plot\(size == .full ? " full" : "")">
      <figcaption><h3>\(HTMLText.escaped(title))</h3><p>\(HTMLText.escaped(note))</p>\
      \(names.isEmpty ? "" : "<ul class=\"legend\">\(names.joined())</ul>")</figcaption>
      <svg viewBox="0 0 \(Self.number(box.width)) \(Self.number(box.height))" role="img" \
      aria-label="\(HTMLText.escaped("\(title): \(yLabel) by \(xLabel)"))">
      \(grid(box))
      \(lines.map { draw($0, box) }.joined(separator: "\n"))
      \(hints.map { area($0, box) }.joined(separator: "\n"))
      </svg>
      </figure>

      """
  }

  private func grid(_ box: Box) -> String {
    (y.ticks.map {
      line("M\(Self.number(box.left)) \(vertical($0.value, box))H\(Self.number(box.right))", $0.value == y.low)
    }
      + x.ticks.map { line("M\(horizontal($0.value, box)) \(Self.number(box.top))V\(Self.number(box.bottom))", false) }
      + tickTexts(box) + [
        text("axis", box.left, 14, "start", y.kind == .logarithmic ? "\(yLabel), logarithmic" : yLabel),
        text("axis", box.right, box.height - 8, "end", xLabel),
      ])
      .joined(separator: "\n")
  }

  /// The texts of the ticks. A text that would overlap the one before it is left out.
  private func tickTexts(_ box: Box) -> [String] {
    var (texts, lowest, rightmost) = ([String](), Double.infinity, -Double.infinity)
    for tick in y.ticks {
      let height = box.bottom - y.position(tick.value) * (box.bottom - box.top)
      guard height < lowest - 13 else { continue }
      lowest = height
      texts.append(text("tick", box.left - 8, height + 4, "end", tick.text))
    }
    for tick in x.ticks {
      let (centre, half) = (position(tick.value, box), Double(tick.text.count) * 3.4)
      guard centre - half > rightmost + 6 else { continue }
      rightmost = centre + half
      texts.append(text("tick", centre, box.bottom + 17, "middle", tick.text))
    }
    return texts
  }

  private func line(_ path: String, _ isBase: Bool) -> String {
    "<path class=\"\(isBase ? "base" : "grid")\" d=\"\(path)\"/>"
  }

  private func text(_ kind: String, _ x: Double, _ y: Double, _ anchor: String, _ text: String) -> String {
    """
    <text class="\(kind)" x="\(Self.number(x))" y="\(Self.number(y))" text-anchor="\(anchor)">\(HTMLText.escaped(text))</text>
    """
  }

  private func draw(_ line: Line, _ box: Box) -> String {
    var parts: [String] = []
    for run in line.runs where !run.isEmpty {
      let path = run.map { "\(horizontal($0.x, box)) \(vertical($0.y, box))" }.joined(separator: "L")
      if line.isFilled, let first = run.first, let last = run.last {
        let (start, end) = (horizontal(first.x, box), horizontal(last.x, box))
        let base = Self.number(box.bottom)
        parts.append("<path class=\"area\" d=\"M\(start) \(base)L\(path)L\(end) \(base)Z\"/>")
      }
      parts.append("<path class=\"line\" d=\"M\(path)\(run.count == 1 ? "h0.1" : "")\"/>")
    }
    for mark in line.marks {
      parts.append(Self.shape(line.colour, position(mark.x, box), Double(vertical(mark.y, box)) ?? 0))
    }
    return "<g class=\"s\(line.colour)\">\(parts.joined())</g>"
  }

  private func area(_ hint: Hint, _ box: Box) -> String {
    let (from, to) = (position(hint.from, box), position(hint.to, box))
    return """
      <rect class="hint" x="\(Self.number(from))" y="\(Self.number(box.top))" width="\(Self.number(max(0.5, to - from)))" \
      height="\(Self.number(box.bottom - box.top))"><title>\
      \(hint.lines.map(HTMLText.escaped).joined(separator: "\n"))</title></rect>
      """
  }

  private func position(_ value: Double, _ box: Box) -> Double { box.left + x.position(value) * (box.right - box.left) }
  private func horizontal(_ value: Double, _ box: Box) -> String { Self.number(position(value, box)) }
  private func vertical(_ value: Double, _ box: Box) -> String {
    Self.number(box.bottom - y.position(value) * (box.bottom - box.top))
  }

  /// Writes a coordinate with a precision of a tenth of a pixel.
  static func number(_ value: Double) -> String {
    let rounded = (value * 10).rounded() / 10
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }

  /// A piece of a line with the shape of its marks, for legends.
  static func sample(_ colour: Int) -> String {
    "<svg class=\"sample\" viewBox=\"0 0 26 12\" aria-hidden=\"true\"><path class=\"line\" d=\"M1 6H25\"/>\(shape(colour, 13, 6))</svg>"
  }

  /// The shape of the marks of a colour. Shapes distinguish the lines in grey prints and for colour-blind readers.
  private static func shape(_ colour: Int, _ x: Double, _ y: Double) -> String {
    let kind = colour % 8 < 4 ? "mark" : "mark hollow"
    func corners(_ steps: [(Double, Double)]) -> String {
      let path = steps.map { "\(number(x + $0.0)) \(number(y + $0.1))" }.joined(separator: "L")
      return "<path class=\"\(kind)\" d=\"M\(path)Z\"/>"
    }
    switch colour % 4 {
    case 0: return "<circle class=\"\(kind)\" cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"3.8\"/>"
    case 1: return corners([(-3.8, -3.8), (3.8, -3.8), (3.8, 3.8), (-3.8, 3.8)])
    case 2: return corners([(0, -4.8), (4.6, 3.6), (-4.6, 3.6)])
    default: return corners([(0, -5.2), (5.2, 0), (0, 5.2), (-5.2, 0)])
    }
  }
}
