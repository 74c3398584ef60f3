/// What the admin interface can have the process do, and ask it. Implemented where the server lives and ends; any thread.
protocol AdminActions: AnyObject, Sendable {
}
