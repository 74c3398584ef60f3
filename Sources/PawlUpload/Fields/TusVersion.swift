/// The version of tus that pawl speaks, with clients and with origins that get uploads by tus (tus 1.0.0, Protocol Versioning).
enum TusVersion {
  static let spoken = "1.0.0"
}
