/// The version of pawl, as the command line, the admin interface and metrics say it.
package enum PawlVersion {
  package static let text = "0.1.0"
}
