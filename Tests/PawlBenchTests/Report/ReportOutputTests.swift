import PawlTestKit
import Testing

@testable import PawlBench

@Suite("What a run is told in") struct ReportOutputTests {
  private final class Streams {
    var output = ""
    var errors = ""
  }

  private func output(_ streams: Streams, json: String?, html: String? = nil) -> ReportOutput {
    ReportOutput(
      progress: ProgressLine(isTerminal: false) { streams.errors += $0 }, json: json, html: html,
      print: { text throws(ReportError) in streams.output += text }, complain: { streams.errors += $0 })
  }

  @Test("is a table, and the files that were asked for")
  func files() throws {
    let folder = try TemporaryFolder()
    let streams = Streams()
    let output = output(streams, json: folder.path + "/a.json", html: folder.path + "/a.html")
    output.runBegan(
      RunPlan(scenario: "hit", label: "pawl", url: "", length: .seconds(2), warmUp: 0, operation: "request"))
    for sample in MadeUpResults.small.samples { output.sample(sample) }
    output.runEnded(MadeUpResults.small)
    #expect(streams.output == TableReport.text(MadeUpResults.small) && streams.errors == "hit pawl\n")
    #expect(folder.read("a.json") == JSONReport.text(MadeUpResults.small))
    #expect(folder.read("a.html").hasPrefix("<!DOCTYPE html>") && output.failures.isEmpty)
  }

  @Test("is the file alone where that is standard output")
  func standardOutput() {
    let streams = Streams()
    output(streams, json: "-").runEnded(MadeUpResults.small)
    #expect(streams.output == JSONReport.text(MadeUpResults.small))
  }

  @Test("names a file that cannot be written, and still writes the others")
  func failure() throws {
    let folder = try TemporaryFolder()
    let streams = Streams()
    let output = output(streams, json: "/dev/full", html: folder.path + "/a.html")
    output.runEnded(MadeUpResults.small)
    #expect(streams.errors == "pawl-bench: cannot write /dev/full: No space left on device\n")
    #expect(output.failures == [.cannotWrite(path: "/dev/full", reason: "No space left on device")])
    #expect(folder.read("a.html").hasPrefix("<!DOCTYPE html>"))
  }
}
