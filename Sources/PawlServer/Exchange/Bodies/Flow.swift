/// What happens to content once it has come.
enum Flow { case goOn, pause }
