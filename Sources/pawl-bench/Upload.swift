import ArgumentParser
import PawlBench

struct Upload: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Uploads, plain or resumable, broken off and taken up again.",
    discussion: """
      Protocols: plain; rufh (resumable uploads for HTTP, interop version 6) or rufh-3 to rufh-10; rufh-final, without a \
      version, as the RFC will be (of pawl with final-dialect = on); tus (1.0.0). With --interruptions each upload is broken \
      off at random places by closing the connection in the middle of the content; then the client asks for the offset and \
      sends the rest. A plain upload begins again. The last answer has to be 2xx, and where 'pawl-bench origin' is behind the \
      server it says what it received, which is compared.

        pawl-bench upload http://127.0.0.1:8080/in --size 1M -c 200 -n 2000
        pawl-bench upload http://127.0.0.1:8080/in --protocol tus --size 100M --interruptions 3 -c 4 -n 20
      """)

  @Argument(help: "Where to upload to.")
  var url: String
  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp("plain, rufh, rufh-3 to rufh-10, rufh-final or tus.", valueName: "name"))
  var dialect = "plain"
  @Option(
    help: ArgumentHelp(
      "Bytes of an upload: a number, or one with K, M or G; by default 1M, or --file's.", valueName: "bytes"))
  var size: Bytes?
  @Option(help: ArgumentHelp("Cuts in each upload.", valueName: "number"))
  var interruptions = 0
  @Option(help: "The method of the first request.")
  var method = "POST"
  @OptionGroup var load: LoadOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    _ = try Self.dialect(dialect)
    try LoadOptions.check(interruptions >= 0 && interruptions <= 100_000, "--interruptions is between 0 and 100000")
    try LoadOptions.check(load.reference == nil, "--reference is not for 'upload': --file says what is sent")
    try LoadOptions.check(size == nil || load.file == nil, "--size and --file exclude each other")
    let isToken = !method.isEmpty && method.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    try LoadOptions.check(isToken, "--method is not a method")
  }

  func run() throws {
    let plan = UploadPlan(
      dialect: try Self.dialect(dialect), size: size?.count ?? (load.file == nil ? 1 << 20 : 0),
      interruptions: interruptions, method: method)
    try start(load.settings(.upload(plan), url), report)
  }

  private static func dialect(_ name: String) throws -> UploadPlan.Dialect {
    switch name {
    case "plain": return .plain
    case "tus": return .tus
    case "rufh": return .interop(6)
    case "rufh-final": return .final
    case _ where name.hasPrefix("rufh-"):
      if let version = Int(name.dropFirst(5)), (3...10).contains(version) { return .interop(version) }
    case _: break
    }
    throw ValidationError("'\(name)' is not a protocol: plain, rufh, rufh-3 to rufh-10, rufh-final or tus.")
  }
}
