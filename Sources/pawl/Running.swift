import PawlConfig

/// Serves until it is told to stop.
///
/// - Parameters:
///   - configuration: valid.
///   - source: where to load it from again on SIGHUP.
func runServer(configuration: Configuration, source: ConfigurationSource) throws(RunFailure) {
  throw RunFailure(.failure, "the server is not built yet")
}

/// Shows one interrupted and resumed download, then serves until Ctrl-C unless `options.once`.
func runDemo(options: DemoOptions) throws(RunFailure) {
  throw RunFailure(.failure, "the demo is not built yet")
}
