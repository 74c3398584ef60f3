import CLinux

/// Binds threads to processor cores.
enum Affinity {
  /// Binds the calling thread to one core.
  /// - Throws: ``RunProblem`` if there is no such core, or the process may not use it.
  static func pin(to core: Int) throws(RunProblem) {
    var mask = [UInt8](repeating: 0, count: 128)
    guard core >= 0, core < mask.count * 8 else { throw RunProblem("there is no core \(core)") }
    mask[core / 8] = 1 << UInt8(core % 8)
    let code = mask.withUnsafeBytes { bytes -> CInt in
      var set = cpu_set_t()
      withUnsafeMutableBytes(of: &set) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<$0.count])) }
      return sched_setaffinity(0, MemoryLayout<cpu_set_t>.size, &set)
    }
    guard code == 0 else { throw RunProblem("core \(core): \(errorText(pawl_errno()))") }
  }
}
