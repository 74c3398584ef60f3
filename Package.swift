// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .swiftLanguageMode(.v6),
]

/// What each shim defines for itself, for the C library's own module too: a debug build refuses two definitions of `fd_set`.
let cSettings: [CSetting] = [.define("_GNU_SOURCE")]

/// A Swift target in `Sources/NAME`, with a test target `Tests/NAMETests` beside it.
func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, cSettings: cSettings, swiftSettings: swiftSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.init(stringLiteral: name), "PawlTestKit"] + dependencies,
    cSettings: cSettings, swiftSettings: swiftSettings)
}

func clibrary(_ name: String, _ pkgConfig: String? = nil, _ apt: [String] = []) -> Target {
  .systemLibrary(
    name: name, path: "Sources/\(name)", pkgConfig: pkgConfig,
    providers: apt.isEmpty ? nil : [.apt(apt)])
}

let structuredFields = Target.Dependency.product(
  name: "RawStructuredFieldValues", package: "swift-http-structured-headers")
let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift")

let package = Package(
  name: "pawl",
  products: [
    .executable(name: "pawl", targets: ["pawl"]),
    .executable(name: "pawl-bench", targets: ["pawl-bench"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-http-structured-headers", exact: "1.7.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
  ],
  targets: [
    clibrary("CLibevent", "libevent_core", ["libevent-dev"]),
    clibrary("CNGHTTP2", "libnghttp2", ["libnghttp2-dev"]),
    clibrary("COpenSSL", "openssl", ["libssl-dev"]),
    clibrary("CSQLite", "sqlite3", ["libsqlite3-dev"]),
    clibrary("CXXHash", "libxxhash", ["libxxhash-dev"]),
    clibrary("CZlib", "zlib", ["zlib1g-dev"]),
    clibrary("CBrotli", "libbrotlienc", ["libbrotli-dev"]),
    clibrary("CZstd", "libzstd", ["libzstd-dev"]),
    clibrary("CLinux"),

    library("PawlBase", ["CLinux"]),
    library("PawlHTTP", ["PawlBase", structuredFields]),
    library("PawlWire", ["PawlBase", "PawlHTTP", "CNGHTTP2"]),
    library("PawlCoding", ["PawlBase", "PawlHTTP", "CZlib", "CBrotli", "CZstd"]),
    library("PawlCache", ["PawlBase", "PawlHTTP", structuredFields]),
    library("PawlUpload", ["PawlBase", "PawlHTTP", structuredFields]),
    library("PawlTLS", ["PawlBase", "COpenSSL", "CLinux"]),
    library("PawlObserve", ["PawlBase", "CLinux"]),
    library("PawlLoop", ["PawlBase", "PawlObserve", "PawlTLS", "CLibevent", "CLinux", deque]),
    library("PawlConfig", ["PawlBase"]),
    library("PawlDisk", ["PawlBase", "PawlLoop", "PawlObserve", "CSQLite", "CLinux"]),
    library(
      "PawlCacheStore",
      ["PawlBase", "PawlHTTP", "PawlCache", "PawlLoop", "PawlObserve", "PawlDisk", "CXXHash", "CLinux"]),
    library(
      "PawlUploadStore",
      ["PawlBase", "PawlHTTP", "PawlCache", "PawlUpload", "PawlLoop", "PawlObserve", "PawlDisk", "CLinux"]),
    library("PawlUpstream", ["PawlBase", "PawlHTTP", "PawlWire", "PawlObserve", "PawlTLS", "PawlLoop", deque]),
    library(
      "PawlCertificates",
      ["PawlBase", "PawlHTTP", "PawlTLS", "PawlLoop", "PawlConfig", "PawlObserve", "CLinux"]),
    library(
      "PawlServer",
      [
        "PawlBase", "PawlHTTP", "PawlWire", "PawlCoding", "PawlCache", "PawlUpload", "PawlTLS", "PawlLoop",
        "PawlConfig", "PawlObserve", "PawlCertificates",
        "PawlDisk", "PawlCacheStore", "PawlUploadStore", "PawlUpstream", "COpenSSL", "CXXHash", "CLinux", deque,
      ]),
    library("PawlDemo", ["PawlBase", "PawlLoop", "PawlConfig", "PawlObserve", "PawlServer", "COpenSSL", "CLinux"]),
    .executableTarget(
      name: "pawl",
      dependencies: [
        "PawlBase", "PawlCertificates", "PawlDemo", "PawlLoop", "PawlServer", "PawlDisk", "PawlUploadStore",
        "PawlUpload", "PawlTLS",
        "PawlConfig", "PawlObserve", "CLibevent",
        "CNGHTTP2",
        "COpenSSL", "CSQLite", "CXXHash", "CZlib", "CBrotli", "CZstd", "CLinux",
        argumentParser,
      ],
      cSettings: cSettings, swiftSettings: swiftSettings),

    library(
      "PawlBench",
      [
        "PawlBase", "PawlHTTP", "PawlWire", "PawlUpload", "PawlTLS", "PawlLoop", "CNGHTTP2", "COpenSSL", "CXXHash",
        "CLinux",
        histogram,
      ]),
    .executableTarget(
      name: "pawl-bench", dependencies: ["PawlBench", argumentParser], exclude: ["README.md"], cSettings: cSettings,
      swiftSettings: swiftSettings),

    .target(
      name: "PawlTestKit", dependencies: ["COpenSSL", "CLinux"], path: "Tests/PawlTestKit",
      cSettings: cSettings, swiftSettings: swiftSettings),
    tests("PawlBase", ["PawlHTTP", "PawlLoop"]),
    tests("PawlHTTP", ["PawlBase"]),
    tests("PawlWire", ["PawlHTTP", "CNGHTTP2"]),
    tests("PawlCoding", ["PawlHTTP", "CZlib", "CBrotli", "CZstd"]),
    tests("PawlCache", ["PawlHTTP"]),
    tests("PawlUpload", ["PawlHTTP"]),
    tests("PawlTLS", ["PawlBase", "COpenSSL", "CLinux"]),
    tests("PawlLoop", ["PawlBase", "PawlObserve", "PawlTLS", "COpenSSL", "CLinux"]),
    tests("PawlConfig", ["PawlBase", "CLinux"]),
    tests("PawlObserve", ["PawlBase", "CLinux"]),
    .target(
      name: "PawlStoreTestKit", dependencies: ["PawlDisk", "PawlLoop", "CLinux"], path: "Tests/PawlStoreTestKit",
      cSettings: cSettings, swiftSettings: swiftSettings),
    tests("PawlDisk", ["PawlStoreTestKit", "PawlBase", "PawlLoop", "PawlObserve", "CLinux"]),
    tests(
      "PawlCacheStore",
      ["PawlStoreTestKit", "PawlBase", "PawlHTTP", "PawlCache", "PawlLoop", "PawlObserve", "PawlDisk", "CLinux"]),
    tests(
      "PawlUploadStore",
      ["PawlStoreTestKit", "PawlBase", "PawlHTTP", "PawlUpload", "PawlLoop", "PawlObserve", "PawlDisk", "CLinux"]),
    tests("PawlUpstream", ["PawlBase", "PawlHTTP", "PawlWire", "PawlObserve", "PawlTLS", "PawlLoop", "CLinux"]),
    tests(
      "PawlServer",
      [
        "PawlBase", "PawlHTTP", "PawlWire", "PawlCoding", "PawlCache", "PawlUpload", "PawlTLS", "PawlLoop",
        "PawlConfig", "PawlObserve", "PawlCertificates",
        "PawlDisk", "PawlCacheStore", "PawlUploadStore", "PawlUpstream", "CLinux", "CNGHTTP2",
      ]),
    tests(
      "PawlCertificates", ["PawlBase", "PawlHTTP", "PawlTLS", "PawlLoop", "PawlConfig", "PawlObserve", "CLinux"]),
    tests("PawlDemo", ["PawlConfig", "PawlLoop", "PawlObserve", "PawlServer"]),
    tests("PawlBench", ["PawlBase", "PawlHTTP", "PawlWire", "PawlTLS", "PawlLoop", "CNGHTTP2", "CLinux"]),
    .testTarget(name: "PawlArchitectureTests", cSettings: cSettings, swiftSettings: swiftSettings),
  ]
)

// The fuzz targets are built by Tests/Fuzz/run alone, because they need the fuzzer's runtime.
if Context.environment["PAWL_FUZZ"] != nil {
  package.products.append(.library(name: "PawlFuzz", type: .static, targets: ["PawlFuzz"]))
  package.targets.append(
    .target(
      name: "PawlFuzz",
      dependencies: [
        "PawlBase", "PawlHTTP", "PawlWire", "PawlCache", "PawlUpload", "PawlConfig", "PawlDisk", "PawlCacheStore",
        "PawlUploadStore", "CLinux",
      ],
      path: "Tests/Fuzz/PawlFuzz", cSettings: cSettings, swiftSettings: swiftSettings))
}
