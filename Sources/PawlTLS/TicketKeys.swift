/// The keys that session tickets are sealed with: one set for all loops and all contexts of a server, over reloads;
/// rotated by time. Safe on any thread.
package final class TicketKeys: Sendable {
  package init() {}
}
