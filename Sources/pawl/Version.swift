import ArgumentParser
import CBrotli
import CLibevent
import CNGHTTP2
import COpenSSL
import CSQLite
import CXXHash
import CZlib
import CZstd
import PawlBase
import PawlTLS

struct Version: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the versions of pawl and of what it runs on.",
    discussion: "Names the libraries as they are at run time. Please add the output to bug reports.")

  func run() {
    for (name, version) in ComponentVersions.all { print("\(name) \(version)") }
  }
}

/// The versions of pawl and of the libraries in use.
enum ComponentVersions {
  static let pawl = PawlVersion.text

  static var all: [(name: String, version: String)] {
    [
      ("pawl", pawl),
      ("Swift", swift),
      ("libevent", text(event_get_version())),
      ("OpenSSL", text(OpenSSL_version(OPENSSL_VERSION)).replacing("OpenSSL ", with: "")),
      ("SQLite", text(sqlite3_libversion())),
      ("xxHash", xxHash),
      ("nghttp2", nghttp2),
      ("zlib", text(zlibVersion())),
      ("Brotli", brotli),
      ("zstd", text(ZSTD_versionString())),
      ("kernel TLS", KernelTLS.isAvailable ? "used for downloads over TLS" : "not in this kernel"),
      ("upload interop versions", "3 4 5 6 7 8 9 10, tus 1.0.0"),
    ]
  }

  /// The version of the Swift compiler; its run-time library is part of the program.
  private static var swift: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #else
      "6.3"
    #endif
  }

  private static var xxHash: String {
    let number = XXH_versionNumber()
    return "\(number / 10_000).\(number / 100 % 100).\(number % 100)"
  }

  private static var brotli: String {
    let number = BrotliEncoderVersion()
    return "\(number >> 24).\(number >> 12 & 0xfff).\(number & 0xfff)"
  }

  private static var nghttp2: String { text(nghttp2_version(0)?.pointee.version_str) }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
    pointer.map { String(cString: $0) } ?? "unknown"
  }
}
