import CLinux

/// A short word for what broke a connection, for logs.
func errorName(_ code: CInt) -> String {
  switch code {
  case ECONNRESET: "reset"
  case EPIPE: "broken-pipe"
  case ETIMEDOUT: "timed-out"
  case EHOSTUNREACH, ENETUNREACH: "unreachable"
  default: "errno-\(code)"
  }
}
