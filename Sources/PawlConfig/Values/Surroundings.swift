/// Why a file could not be read, in the system's words.
package struct FileProblem: Error, Hashable, Sendable {
  package var reason: String
  package init(reason: String) { self.reason = reason }
}

/// The world around a configuration, passed in: this module reads no file and no environment by itself.
package struct Surroundings {
  /// The value of an environment variable.
  package var environment: (String) -> String?
  /// The bytes of a file.
  package var readFile: (String) -> Result<[UInt8], FileProblem>
  /// The files a pattern with `*`, `?` or `[…]` stands for; in any order.
  package var listFiles: (String) -> [String]
  /// Whether the process is root's, which decides where state is kept by default.
  package var isRoot: Bool

  package init(
    environment: @escaping (String) -> String?, readFile: @escaping (String) -> Result<[UInt8], FileProblem>,
    listFiles: @escaping (String) -> [String], isRoot: Bool
  ) {
    (self.environment, self.readFile) = (environment, readFile)
    (self.listFiles, self.isRoot) = (listFiles, isRoot)
  }

  /// `[pawl] state-dir` where nothing names another.
  package var defaultStateDirectory: String { isRoot ? "/var/lib/pawl" : "./pawl-state" }
}
