/// The version of tus that pawl speaks to clients, and to origins that are sent uploads by tus (tus 1.0.0, Protocol Versioning).
enum TusVersion {
  static let spoken = "1.0.0"
}
