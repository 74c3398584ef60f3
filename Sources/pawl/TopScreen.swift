import CLinux
import PawlBase

/// What `pawl top` shows: the state of the server, and its transfers.
enum TopScreen {
  private struct Picture {
    var status: AdminAnswer
    var transfers: AdminAnswer

    var json: String {
      let list = transfers.status == 200 ? transfers.text : "null"
      return "{\"status\":\(trimmed(status.text)),\"transfers\":\(trimmed(list))}"
    }

    private func trimmed(_ text: String) -> String { text.hasSuffix("\n") ? String(text.dropLast()) : text }

    /// The text in lines; the transfers come last.
    /// - Parameter rows: of the screen; more than half of it is for the transfers. `nil`: there is no limit.
    func lines(rows height: Int? = nil) -> [String] {
      let rows = TransferTable.rows(transfers.json)
      let list =
        transfers.status != 200
        ? [transfers.problem] : rows.count == 1 ? ["no transfers"] : TextTable.lines(rows)
      let above = StatusReport.lines(status.json, most: height.map { $0 * 2 / 5 })
      return above.prefix(height.map { max(1, $0 / 2 - 3) } ?? above.count) + ["\(totals)", ""] + list
    }

    private var totals: String {
      let all = transfers.json["transfers"].elements
      let rate = all.reduce(0.0) { $0 + ($1["rate"].number ?? 0) }
      return "\(all.count) transfers, \(UploadListing.size(rate > 0 ? UInt64(rate) : 0))/s"
    }
  }

  private static func picture(_ server: ServerSelection) throws(RunFailure) -> Picture {
    Picture(status: try server.need("GET", "/v1/status"), transfers: try server.ask("GET", "/v1/transfers"))
  }

  /// Prints pictures as plain text or JSON.
  static func plain(_ server: ServerSelection, every: Int, isOnce: Bool, isJSON: Bool) throws(RunFailure) {
    while true {
      let picture = try picture(server)
      print(isJSON ? picture.json : picture.lines().joined(separator: "\n"))
      try Output.flush()
      if isOnce { return }
      sleep(UInt32(every))
    }
  }

  /// Shows pictures on the alternate screen of the terminal until `q` or Ctrl-C is pressed, or the server has gone.
  static func live(_ server: ServerSelection, every: Int) throws(RunFailure) {
    _ = try picture(server)  // A server that does not run is reported on the ordinary screen.
    let terminal = Terminal()
    defer { terminal.restore() }
    while true {
      let picture = try picture(server)
      terminal.show(picture.lines)
      if terminal.endsWithin(seconds: every) { return }
    }
  }
}

/// The terminal while `pawl top` has it: no echo, keys at once, the alternate screen. Standard input and output.
private final class Terminal {
  private var former = termios()

  init() {
    tcgetattr(STDIN_FILENO, &former)
    var raw = former
    // Ctrl-C is a key like any other, so that the screen is given back.
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
    tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    write("\u{1b}[?1049h\u{1b}[?25l")
  }

  func restore() {
    write("\u{1b}[?25h\u{1b}[?1049l")
    tcsetattr(STDIN_FILENO, TCSANOW, &former)
  }

  /// Fills the screen with the first lines that it has room for; the size may have changed.
  /// - Parameter lines: returns the lines for a number of rows.
  func show(_ lines: (Int?) -> [String]) {
    var size = winsize()
    let isKnown = pawl_window_size(STDOUT_FILENO, &size) == 0 && size.ws_row > 0
    let (rows, columns) = isKnown ? (Int(size.ws_row), Int(size.ws_col)) : (24, 80)
    let shown = lines(rows).prefix(rows).map { "\($0.prefix(columns))\u{1b}[K" }
    write("\u{1b}[H" + shown.joined(separator: "\r\n") + "\u{1b}[J")
  }

  /// Waits for a key. Returns whether it was `q`, Ctrl-C or the end of the input.
  func endsWithin(seconds: Int) -> Bool {
    var watched = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&watched, 1, CInt(seconds * 1000)) > 0 else { return false }
    var key: UInt8 = 0
    return read(STDIN_FILENO, &key, 1) <= 0 || [0x71, 0x51, 0x03].contains(key)
  }

  private func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { CLinux.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
