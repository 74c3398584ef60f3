/// What the admin interface asks of the server, answered from any thread.
final class AdminGate: AdminActions {
  private let server: Server

  init(_ server: Server) { self.server = server }
}
