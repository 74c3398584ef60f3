import CLinux
import PawlConfig
import PawlDisk
import PawlLoop

/// Tells whether a process that has a store of a configuration open is the pawl of that configuration: it listens where the
/// configuration says, or was started with its file. Blocking; reads `/proc`.
enum RunningPawl {
  /// Returns the name of the process, if it is another one; `nil`: it is that pawl, or nothing is known of it.
  static func stranger(_ process: Int, _ configuration: Configuration) -> String? {
    let arguments = ProcessFiles.text(of: "/proc/\(process)/cmdline").split(separator: "\0").map(String.init)
    guard !arguments.isEmpty else { return nil }
    if let file = configuration.file {
      let folder = ProcessFiles.target("/proc/\(process)/cwd")
      if let own = configFile(in: arguments), isSame(own, file, from: folder) { return nil }
    }
    if listens(process, configuration) { return nil }
    let name = ProcessFiles.text(of: "/proc/\(process)/comm").prefix { $0 != "\n" }
    return "process \(process) (\(name))"
  }

  /// Returns the value of `--config` in the arguments of a process.
  static func configFile(in arguments: [String]) -> String? {
    for (index, argument) in arguments.enumerated() {
      if ["-c", "--config"].contains(argument), index + 1 < arguments.count { return arguments[index + 1] }
      if argument.hasPrefix("--config=") { return String(argument.dropFirst("--config=".count)) }
    }
    return nil
  }

  private static func isSame(_ path: String, _ file: String, from folder: String) -> Bool {
    let whole = path.hasPrefix("/") ? path : "\(folder)/\(path)"
    var (a, b) = (stat(), stat())
    return stat(whole, &a) == 0 && stat(file, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino
  }

  private static func listens(_ process: Int, _ configuration: Configuration) -> Bool {
    let addresses = configuration.admin.listen + configuration.listeners.flatMap(\.addresses)
    return addresses.contains { address in
      guard let parsed = SocketAddress.parse(address.description), parsed.isUnix || parsed.port != 0 else {
        return false
      }
      return SocketHolder.find(parsed)?.process == process
    }
  }
}
