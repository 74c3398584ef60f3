import CLinux

/// Returns a short name for the error that broke a connection, for logs.
func errorName(_ code: CInt) -> String {
  switch code {
  case ECONNRESET: "reset"
  case EPIPE: "broken-pipe"
  case ETIMEDOUT: "timed-out"
  case EHOSTUNREACH, ENETUNREACH: "unreachable"
  default: "errno-\(code)"
  }
}
