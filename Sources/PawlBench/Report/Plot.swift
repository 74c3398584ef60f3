/// Lines over two axes, drawn as SVG. Colours come from the page: line `n` has the class `sn`.
struct Plot {
  struct Line {
    var name: String
    /// Which of the page's colours.
    var colour: Int
    /// Runs of points; between two runs nothing is known.
    var runs: [[Point]]
    /// Points that are marked with the line's shape.
    var marks: [Point] = []
    /// Whether the area below is tinted.
    var isFilled = false
  }

  struct Point: Hashable {
    var x: Double
    var y: Double
  }

  /// What is said when the pointer is over a part of the x axis.
  struct Hint {
    var from: Double
    var to: Double
    var lines: [String]
  }

  enum Size { case full, half }

  var title: String
  /// A sentence for who wonders what is to be seen.
  var note: String
  var size = Size.half
  var x: PlotScale
  var xLabel: String
  var y: PlotScale
  var yLabel: String
  var lines: [Line]
  var hints: [Hint]

  private struct Box {
    let left = 62.0
    let top = 26.0
    let right: Double
    let bottom: Double
    let width: Double
    let height: Double
  }

  private var box: Box {
    let (width, height) = size == .full ? (1044.0, 400.0) : (510.0, 264.0)
    return Box(right: width - 18, bottom: height - 44, width: width, height: height)
  }

  func markup() -> String {
    let box = box
    let names = lines.map { "<li class=\"s\($0.colour)\">\(Self.sample($0.colour))\(HTMLText.escaped($0.name))</li>" }
    return """
      <figure class="plot\(size == .full ? " full" : "")">
      <figcaption><h3>\(HTMLText.escaped(title))</h3><p>\(HTMLText.escaped(note))</p>\
      <ul class="legend">\(names.joined())</ul></figcaption>
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
    var parts = y.ticks.map { tick -> String in
      let height = vertical(tick.value, box)
      return """
        <path class="\(tick.value == y.low ? "base" : "grid")" d="M\(Self.number(box.left)) \(height)H\(Self.number(box.right))"/>\
        <text class="tick" x="\(Self.number(box.left - 8))" y="\(height)" dy="4" text-anchor="end">\
        \(HTMLText.escaped(tick.text))</text>
        """
    }
    var free = -Double.infinity
    for tick in x.ticks {
      let place = horizontal(tick.value, box)
      parts.append("<path class=\"grid\" d=\"M\(place) \(Self.number(box.top))V\(Self.number(box.bottom))\"/>")
      // Texts that would run into the one before them are left out.
      let (centre, half) = (position(tick.value, box), Double(tick.text.count) * 3.4)
      guard centre - half > free else { continue }
      free = centre + half + 6
      parts.append(
        """
        <text class="tick" x="\(place)" y="\(Self.number(box.bottom + 17))" text-anchor="middle">\
        \(HTMLText.escaped(tick.text))</text>
        """)
    }
    parts.append(
      """
      <text class="axis" x="\(Self.number(box.left))" y="14">\(HTMLText.escaped(yLabel))</text>\
      <text class="axis" x="\(Self.number(box.right))" y="\(Self.number(box.height - 8))" text-anchor="end">\
      \(HTMLText.escaped(xLabel))</text>
      """)
    return parts.joined(separator: "\n")
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

  /// A tenth of a pixel is enough.
  static func number(_ value: Double) -> String {
    let rounded = (value * 10).rounded() / 10
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }

  /// A piece of a line with its shape, for legends.
  static func sample(_ colour: Int) -> String {
    "<svg class=\"sample\" viewBox=\"0 0 26 12\" aria-hidden=\"true\"><path class=\"line\" d=\"M1 6H25\"/>\(shape(colour, 13, 6))</svg>"
  }

  /// Every colour has a shape too: for prints in grey and for those who see few colours.
  private static func shape(_ colour: Int, _ x: Double, _ y: Double) -> String {
    let (left, right, top, bottom) = (number(x - 4), number(x + 4), number(y - 4), number(y + 4))
    switch colour % 4 {
    case 0: return "<circle class=\"mark\" cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"3.6\"/>"
    case 1: return "<path class=\"mark\" d=\"M\(left) \(top)H\(right)V\(bottom)H\(left)Z\"/>"
    case 2: return "<path class=\"mark\" d=\"M\(number(x)) \(number(y - 4.6))L\(number(x + 4.6)) \(bottom)H\(number(x - 4.6))Z\"/>"
    default:
      return "<path class=\"mark\" d=\"M\(number(x)) \(number(y - 5))L\(number(x + 5)) \(number(y))L\(number(x)) \(number(y + 5))L\(number(x - 5)) \(number(y))Z\"/>"
    }
  }
}
