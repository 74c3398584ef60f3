/// An exchange that is answered with a reply of pawl.
final class ReplyExchange: Exchange {
  private let reply: Replies.Reply
  private let channel: any ResponseChannel

  init(_ reply: Replies.Reply, _ request: IncomingRequest, _ channel: any ResponseChannel) {
    (self.reply, self.channel) = (reply, channel)
  }

  func start() {
    channel.reply(reply)
  }

  func clientLeft() {}
  func responseSent() {}
}
