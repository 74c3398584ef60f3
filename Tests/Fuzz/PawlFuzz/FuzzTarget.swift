import CLinux

/// One fuzz target: a parser, and what must hold for every input. A breach ends the process (``breach(_:)``).
struct FuzzTarget: Sendable {
  let name: String
  let run: @Sendable ([UInt8]) -> Void

  static let all: [FuzzTarget] =
    messages + ranges + fields + uploads + configuration + http2 + records + texts

  /// The target that `PAWL_FUZZ_TARGET` names.
  static let chosen: FuzzTarget = {
    let wanted = getenv("PAWL_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = all.first(where: { $0.name == wanted }) else {
      print("PAWL_FUZZ_TARGET is none of: \(all.map(\.name).joined(separator: " "))")
      exit(64)
    }
    return target
  }()
}

/// Ends the process, because an input broke a rule.
func breach(_ rule: String) -> Never { fatalError("breach: \(rule)") }

/// Called by libFuzzer before the first input. With `PAWL_FUZZ_LIST` it prints the names of all targets and ends the process.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutableRawPointer) -> CInt {
  if getenv("PAWL_FUZZ_LIST") != nil {
    for target in FuzzTarget.all { print(target.name) }
    exit(0)
  }
  _ = FuzzTarget.chosen
  return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTestOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  FuzzTarget.chosen.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}
