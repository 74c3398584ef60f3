/// Whether more content may come.
enum Flow { case goOn, pause }
