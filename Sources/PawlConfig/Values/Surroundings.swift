/// The reason why a file could not be read, as a text of the system.
package struct FileProblem: Error, Hashable, Sendable {
  package var reason: String
  package init(reason: String) { self.reason = reason }
}

/// The functions that read files and environment variables for a configuration. The caller passes them in, because this module
/// does not access the system.
package struct Surroundings {
  /// Returns the value of an environment variable.
  package var environment: (String) -> String?
  /// Returns the bytes of a file.
  package var readFile: (String) -> Result<[UInt8], FileProblem>
  /// Returns the files that match a pattern with `*`, `?` or `[…]`, in any order.
  package var listFiles: (String) -> [String]
  /// Whether the process runs as root. This decides the default state directory.
  package var isRoot: Bool

  package init(
    environment: @escaping (String) -> String?, readFile: @escaping (String) -> Result<[UInt8], FileProblem>,
    listFiles: @escaping (String) -> [String], isRoot: Bool
  ) {
    (self.environment, self.readFile) = (environment, readFile)
    (self.listFiles, self.isRoot) = (listFiles, isRoot)
  }

  /// The default of `[pawl] state-dir`.
  package var defaultStateDirectory: String { isRoot ? "/var/lib/pawl" : "./pawl-state" }
}
