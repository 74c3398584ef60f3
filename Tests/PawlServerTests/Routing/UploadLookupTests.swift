import PawlConfig
import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer
@testable import PawlUploadStore

@Suite("Uploads of other settings than those of now") struct UploadLookupTests {
  private static let six = "Upload-Draft-Interop-Version: 6"
  private static let partial = "Content-Type: application/partial-upload"

  private func reload(_ talk: UploadTalk, _ site: String, more: String = "[spool:default]\nmax-size = 64M") throws {
    talk.pawl.server.reload(
      try TestServer.configuration(url: "http://127.0.0.1:\(talk.origin.port)", in: talk.pawl.folder) { changes in
        changes.site = "min-resumable = 4\n\(site)"
        changes.more = more
      })
  }

  private func begin(_ talk: UploadTalk) -> String {
    let made = talk.ask("POST /f", Self.six, "Upload-Complete: ?0", content: "")
    #expect(made.status == 201)
    return made.uploadTarget
  }

  private func finish(_ talk: UploadTalk, _ target: String, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(talk.ask("HEAD \(target)", Self.six)["Upload-Offset"] == "0", sourceLocation: sourceLocation)
    let answer = talk.ask(
      "PATCH \(target)", Self.six, Self.partial, "Upload-Offset: 0", "Upload-Complete: ?1", content: "hello")
    #expect(answer.status == 200 && answer.text == "done", sourceLocation: sourceLocation)
    talk.finish()
    #expect(!talk.received().contains(target), sourceLocation: sourceLocation)
    #expect(talk.received().hasSuffix("\r\n\r\nhello"), sourceLocation: sourceLocation)
  }

  @Test(
    "go on at the URLs they have", arguments: ["uploads = off", "upload-prefix = /elsewhere/", "host = other"])
  func goOn(_ site: String) throws {
    let talk = try UploadTalk([5])
    let target = begin(talk)
    #expect(target.hasPrefix("/.pawl/uploads/"))
    try reload(talk, site)
    finish(talk, target)
    #expect(!talk.pawl.accessLog.contains { $0.contains(target.suffix(32)) })
  }

  @Test("are found in the spool where they are, of a site that has another now")
  func spool() throws {
    let talk = try UploadTalk([5])
    let target = begin(talk)
    let path = talk.pawl.folder.path + "/other"
    try reload(
      talk, "spool = other", more: "[spool:other]\nmax-size = 64M\npath = \(path)\n[spool:default]\nmax-size = 64M")
    finish(talk, target)
  }

  @Test("may be as large as was told when they were made, and not larger", arguments: [0, 1])
  func largest(_ more: Int) throws {
    let talk = try UploadTalk(scripts: [[.expectHead, UploadTalk.noOptions, .readToEnd]], site: "max-upload = 1M")
    let target = begin(talk)
    try reload(talk, "max-upload = 1K")
    #expect(talk.ask("POST /f", Self.six, "Upload-Complete: ?0", "Upload-Length: 1025", content: "").status == 413)
    let count = (1 << 20) + more
    let answer = talk.ask(
      "PATCH \(target)", Self.six, Self.partial, "Upload-Offset: 0", "Upload-Complete: ?0",
      content: String(repeating: "x", count: count))
    #expect(answer.status == (more == 0 ? 201 : 413))
    talk.pawl.stop()
  }

  @Test("without any site their bytes are kept, and go nowhere; with one again they are sent")
  func orphans() throws {
    let folder = try TemporaryFolder()
    let first = try UploadTalk(
      scripts: [[.expectHead, UploadTalk.noOptions, .readToEnd]], in: folder, site: "host = site")
    let target = begin(first)
    first.pawl.stop()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .read(5), .send(UploadTalk.ok), .readToEnd])
    let second = UploadTalk(try TestServer(origin, in: folder) { $0.site = "host = other" }, origin)
    let some = second.ask(
      "PATCH \(target)", Self.six, Self.partial, "Upload-Offset: 0", "Upload-Complete: ?0", content: "hell")
    #expect(some.status == 201 && some["Upload-Offset"] == "4")
    let client = second.pawl.connect()
    client.send(
      second.head("PATCH \(target)", [Self.six, Self.partial, "Upload-Offset: 4", "Upload-Complete: ?1"], length: 1)
        + "o")
    second.pawl.waitFor("upload-waiting")
    #expect(origin.acceptedCount == 0)
    second.pawl.server.reload(
      try TestServer.configuration(url: "http://127.0.0.1:\(origin.port)", in: folder) { $0.site = "host = site" })
    #expect(client.readAnswer().text == "done")
    second.finish()
    #expect(second.received().hasPrefix("POST /f HTTP/1.1\r\n") && second.received().hasSuffix("hello"))
  }

  @Test("a route is made once for each spool and path, and no site's upload is found at another")
  func routes() throws {
    let bench = try UploadBench(nil)
    let upload = try bench.complete(Array("hello".utf8))
    let router = bench.bench.serverLoop.services.router
    let now = try #require(router.finishing(upload))
    #expect(now === bench.bench.route && router.finishing(upload, below: UploadURLs.usual) === now)
    let other = try #require(router.finishing(upload, below: Array("/old/".utf8)))
    #expect(other !== now && other.uploads?.prefix == Array("/old/".utf8) && other.name == now.name)
    #expect(router.finishing(upload, below: Array("/old/".utf8)) === other && !other.isOrphan)
    guard case .found(let found, _) = router.findUpload(upload.id, authority: Bytes("site"), near: now) else {
      Issue.record("it is not found")
      return
    }
    #expect(found === upload)
    _ = bench.finish()
  }
}
