import PawlTestKit
import Testing

@testable import PawlServer

/// A pawl that takes uploads, and what tests say to it: raw requests, whose answers are taken apart by field.
struct UploadTalk {
  let pawl: TestServer
  let origin: ScriptedOrigin

  /// What an origin without OPTIONS says to the probe that comes before the first upload of a path.
  static let noOptions = OriginStep.send("HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
  /// The probe's connection, which stays.
  static let probe: [OriginStep] = [.expectHead, noOptions, .readToEnd]
  static let ok = "HTTP/1.1 200 OK\r\nX-App: yes\r\nContent-Length: 4\r\n\r\ndone"
  static let url = "/.pawl/uploads/"

  /// - Parameter contents: the lengths of the uploads that the origin gets, each on a connection of its own after the
  ///   probe's.
  init(_ contents: [Int], answer: String = ok, site: String = "") throws {
    let ends: [[OriginStep]] = contents.map { [.expectHead, .read($0), .send(answer), .readToEnd] }
    try self.init(scripts: [Self.probe] + ends, site: site)
  }

  init(scripts: [[OriginStep]], in folder: TemporaryFolder? = nil, site: String = "") throws {
    let origin = ScriptedOrigin(.tcp, scripts: scripts)
    self.origin = origin
    pawl = try TestServer(origin, in: folder) { changes in
      changes.site = "min-resumable = 4\n\(site)"
      changes.more = "[spool:default]\nmax-size = 64M"
    }
  }

  init(_ pawl: TestServer, _ origin: ScriptedOrigin) { (self.pawl, self.origin) = (pawl, origin) }

  func head(_ line: String, _ fields: [String], length: Int? = nil) -> String {
    "\(line) HTTP/1.1\r\nHost: site\r\nX-Request-Id: r\r\n" + fields.map { "\($0)\r\n" }.joined()
      + (length.map { "Content-Length: \($0)\r\n" } ?? "") + "\r\n"
  }

  /// One request on a connection of its own.
  func ask(_ line: String, _ fields: String..., content: String? = nil) -> Answer {
    let client = pawl.connect()
    client.send(head(line, fields, length: content?.utf8.count) + (content ?? ""))
    return client.readAnswer(isHead: line.hasPrefix("HEAD "))
  }

  /// What came over the origin's last connection.
  func received() -> String { String(decoding: origin.received.last ?? [], as: UTF8.self) }

  func finish(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(pawl.stop() == [], sourceLocation: sourceLocation)
  }
}

/// The target of the upload's URL that a head tells.
func uploadTarget(_ head: String) -> String {
  for line in head.split(separator: "\r\n") where line.hasPrefix("Location: http://site/") {
    return String(line.dropFirst("Location: http://site".count))
  }
  return ""
}

extension Answer {
  /// From an interim answer or the final one.
  var uploadTarget: String {
    (interim + [head]).map(PawlServerTests.uploadTarget).first { !$0.isEmpty } ?? ""
  }

  /// The values of these fields, `-` for what is missing.
  func values(_ names: String...) -> [String] { names.map { self[$0] ?? "-" } }
}
