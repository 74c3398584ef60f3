/// Answers something that needs no origin.
final class ReplyExchange: Exchange {
  private let reply: Replies.Reply
  private let channel: any ResponseChannel

  init(_ reply: Replies.Reply, _ request: IncomingRequest, _ channel: any ResponseChannel) {
    (self.reply, self.channel) = (reply, channel)
  }

  func start() {
    channel.respond(reply.head, length: .known(UInt64(reply.body.count)), body: MemoryBody(reply.body))
  }

  func clientLeft() {}
  func responseSent() {}
}
