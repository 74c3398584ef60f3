"""HPACK (RFC 7541) with a dynamic table of no bytes, as SETTINGS asks of the other side: static table and Huffman."""

LENGTHS = (  # of the code of each symbol and of the end: A is 5 bits
    "ISXXXXXXXTZXXZXXXXXXXXZXXXXXXXXXBFFHIBDGFFDGDBBBAAABBBBBBBCDKBHFIBCCCCCCCCCCCCCCCCCCCCCCDCDIOIJBKABABABBBACCBBBABCBAABC"
    "CCCCKGJIXPRPPRRRSRSSSSSTSTTRSTSSSSQRSRSSTRQPRRSSQSRRTQRSSQQRQSRSSPRRRSRRSVVPORSRUVVVWWVTUOQVWWVWTQQVVXWWWPTPQRQQSRRUUTTVSV"
    "WVVWWWWWXWWWWWVZ"
)
STATIC = [
    tuple(word.replace("_", " ").partition("=")[::2])
    for word in (
        ":authority= :method=GET :method=POST :path=/ :path=/index.html :scheme=http :scheme=https "
        ":status=200 :status=204 :status=206 :status=304 :status=400 :status=404 :status=500 accept-charset= "
        "accept-encoding=gzip,_deflate accept-language= accept-ranges= accept= access-control-allow-origin= "
        "age= allow= authorization= cache-control= content-disposition= content-encoding= content-language= "
        "content-length= content-location= content-range= content-type= cookie= date= etag= expect= expires= "
        "from= host= if-match= if-modified-since= if-none-match= if-range= if-unmodified-since= "
        "last-modified= link= location= max-forwards= proxy-authenticate= proxy-authorization= range= "
        "referer= refresh= retry-after= server= set-cookie= strict-transport-security= transfer-encoding= "
        "user-agent= vary= via= www-authenticate= "
    ).split()
]


def codes():
    """{(bits, code): symbol}: the code is canonical, so the lengths are enough."""
    found, code, before = {}, 0, 0
    for length, symbol in sorted((ord(letter) - 60, symbol) for symbol, letter in enumerate(LENGTHS)):
        code <<= length - before
        before = length
        found[length, code] = symbol
        code += 1
    return found


CODES = codes()


def unhuffman(data):
    out, bits, code = bytearray(), 0, 0
    for octet in data:
        for shift in range(7, -1, -1):
            code, bits = code << 1 | octet >> shift & 1, bits + 1
            symbol = CODES.get((bits, code))
            if symbol is not None:
                out.append(symbol)
                bits = code = 0
    return bytes(out)


def integer(data, at, prefix):
    mask = (1 << prefix) - 1
    value, at = data[at] & mask, at + 1
    if value == mask:
        shift = 0
        while True:
            value += (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                break
    return value, at


KNOWN = {}


def text(data, at):
    huffman = data[at] & 128
    length, at = integer(data, at, 7)
    raw = bytes(data[at : at + length])
    if huffman:
        if raw not in KNOWN:
            if len(KNOWN) > 20000:
                KNOWN.clear()
            KNOWN[raw] = unhuffman(raw)
        raw = KNOWN[raw]
    return raw.decode("latin-1"), at + length


def decode(data):
    fields, at = [], 0
    while at < len(data):
        first = data[at]
        if first & 128:
            index, at = integer(data, at, 7)
            fields.append(STATIC[index - 1])
            continue
        if first & 224 == 32:
            _, at = integer(data, at, 5)
            continue
        index, at = integer(data, at, 6 if first & 64 else 4)
        if index:
            name = STATIC[index - 1][0]
        else:
            name, at = text(data, at)
        value, at = text(data, at)
        fields.append((name, value))
    return fields


def encode_integer(value, prefix, flags=0):
    mask = (1 << prefix) - 1
    if value < mask:
        return bytes([flags | value])
    out, value = bytearray([flags | mask]), value - mask
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(fields):
    """Each field as a literal without indexing."""
    out = bytearray()
    for name, value in fields:
        name, value = name.lower().encode("latin-1"), value.encode("latin-1")
        out += b"\0" + encode_integer(len(name), 7) + name + encode_integer(len(value), 7) + value
    return bytes(out)
