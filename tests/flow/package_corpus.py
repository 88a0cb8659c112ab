"""Packages for the tests, written byte by byte: valid ones as common tools write them, and hostile
ones, each with the rule that must reject it. It uses only Python's standard library. Only this program
and a few small seeds for the fuzzer are committed:

    package_corpus.py seeds tests/fuzz/corpus
"""

import gzip
import io
import json
import struct
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

PLACE = json.dumps({"format": 1, "name": "Test Place"}).encode()
SCENE = json.dumps({"format": 1, "entities": []}).encode()
NEEDED = [("place.json", PLACE), ("scene.json", SCENE)]


# --- assets -------------------------------------------------------------------------------------

def png_chunk(kind, data, crc=None):
    crc = zlib.crc32(kind + data) if crc is None else crc
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)


def png(width=4, height=4, colour=2, bits=8, pixels=None, before=b"", after=b"", interlace=0):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    row = b"\0" + bytes((width * channels * bits + 7) // 8)
    raw = row * height if pixels is None else pixels
    return (b"\x89PNG\r\n\x1a\n"
            + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, interlace))
            + before + png_chunk(b"IDAT", zlib.compress(raw)) + after + png_chunk(b"IEND", b""))


def gradient_png(width, height):
    rows = b"".join(b"\0" + bytes(c for x in range(width) for c in (x * 255 // width, y * 255 // height, 90))
                    for y in range(height))
    return png(width, height, pixels=rows)


def jpeg(width=8, height=8, progressive=False, scans=1, before=b"", blocks=None):
    """Grey. With one code each for "no change" and "end of block" a block is two zero bits."""
    def segment(marker, data):
        return bytes([0xff, marker]) + struct.pack(">H", len(data) + 2) + data
    table = bytes([1]) + bytes(15) + b"\0"
    count = ((width + 7) // 8) * ((height + 7) // 8) if blocks is None else blocks
    bits = count * (1 if progressive else 2)
    data = bytearray((bits + 7) // 8)
    if bits % 8:
        data[-1] |= (1 << (8 - bits % 8)) - 1
    scan = segment(0xda, b"\1\1\0" + (b"\0\0\0" if progressive else b"\0\x3f\0")) + bytes(data)
    return (b"\xff\xd8" + before + segment(0xdb, b"\0" + bytes([1] * 64))
            + segment(0xc2 if progressive else 0xc0,
                      b"\x08" + struct.pack(">HH", height, width) + b"\1\1\x11\0")
            + segment(0xc4, b"\0" + table) + segment(0xc4, b"\x10" + table) + scan * scans
            + b"\xff\xd9")


def ogg_crc(data):
    crc = 0
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04c11db7 if crc & 0x80000000 else crc << 1) & 0xffffffff
    return crc


def ogg_page(packets, flags, position, sequence, serial=7):
    lacing = b"".join(b"\xff" * (len(p) // 255) + bytes([len(p) % 255]) for p in packets)
    head = (b"OggS\0" + bytes([flags]) + struct.pack("<qII", position, serial, sequence))
    tail = bytes([len(lacing)]) + lacing + b"".join(packets)
    return head + struct.pack("<I", ogg_crc(head + bytes(4) + tail)) + tail


def ogg(channels=2, rate=44100, samples=44100, opus=False, serial=7):
    if opus:
        first = b"OpusHead\1" + bytes([channels]) + struct.pack("<HIHB", 312, rate, 0, 0)
        headers = [b"OpusTags" + bytes(8)]
    else:
        first = (b"\1vorbis" + struct.pack("<IBIiii", 0, channels, rate, 0, 128000, 0)
                 + bytes([0xb8, 1]))
        headers = [b"\3vorbis" + bytes(8) + b"\1", b"\5vorbis" + bytes(300)]
    return (ogg_page([first], 2, 0, 0, serial) + ogg_page(headers, 0, 0, 1, serial)
            + ogg_page([bytes(100)], 4, samples, 2, serial))


def wav(rate=22050, channels=1, bits=16, frames=200, riff=None, kind=1, data=None, extra=b""):
    data = bytes(frames * channels * bits // 8) if data is None else data
    frame = channels * bits // 8
    body = (b"WAVEfmt " + struct.pack("<IHHIIHH", 16, kind, channels, rate, rate * frame, frame, bits)
            + extra + b"data" + struct.pack("<I", len(data)) + data)
    return b"RIFF" + struct.pack("<I", len(body) if riff is None else riff) + body


TRIANGLE = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0) + struct.pack("<3H", 0, 1, 2) + b"\0\0"


def gltf(change=None, uri=None, binary=TRIANGLE):
    buffer = {"byteLength": len(binary)}
    if uri is not None:
        buffer["uri"] = uri
    model = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [buffer],
        "bufferViews": [{"buffer": 0, "byteLength": 36},
                        {"buffer": 0, "byteOffset": 36, "byteLength": 6}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"}]}
    if change:
        change(model)
    return json.dumps(model).encode()


def glb(change=None, binary=TRIANGLE, length=None):
    text = gltf(change, binary=binary)
    text += b" " * (-len(text) % 4)
    body = (struct.pack("<I", len(text)) + b"JSON" + text
            + struct.pack("<I", len(binary)) + b"BIN\0" + binary)
    return b"glTF" + struct.pack("<II", 2, len(body) + 12 if length is None else length) + body


def set_at(*path_and_value):
    """A change of a model: keys and indices, then the value."""
    *path, last, value = path_and_value

    def change(model):
        for step in path:
            model = model[step]
        model[last] = value
    return change


# --- zip, with every field open to lies ---------------------------------------------------------

class Entry:
    def __init__(self, name, data=b"", **lies):
        self.name = name.encode() if isinstance(name, str) else name
        self.data = data
        self.lies = lies


def deflate(data, level=9):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def make_zip(entries, comment=b"", prefix=b"", suffix=b"", end=None, gap=b"", order=None):
    """`end` changes fields of the end record; `gap` stands before the directory."""
    out, central = bytearray(prefix), []
    for item in entries:
        entry = item if isinstance(item, Entry) else Entry(*item)
        lies = entry.lies
        method = lies.get("method", 8 if len(entry.data) > 40 else 0)
        packed = lies.get("packed", deflate(entry.data) if method == 8 else entry.data)
        crc = lies.get("crc", zlib.crc32(entry.data))
        size = lies.get("size", len(entry.data))
        packed_size = lies.get("packed_size", len(packed))
        flags = lies.get("flags", 0x800)
        offset = lies.get("offset", len(out))
        local_name = lies.get("local_name", entry.name)
        local_extra, extra = lies.get("local_extra", b""), lies.get("extra", b"")
        described = bool(flags & 8)
        numbers = (0, 0, 0) if described else (crc, packed_size, size)
        numbers = lies.get("local_numbers", numbers)
        if not lies.get("central_only"):
            out += lies.get("before", b"")
            if "offset" not in lies:
                offset = len(out)
            out += struct.pack("<IHHHHHIIIHH", 0x04034b50, 20, lies.get("local_flags", flags),
                               lies.get("local_method", method), 0, 0x21, *numbers,
                               len(local_name), len(local_extra)) + local_name + local_extra + packed
            if described:
                out += lies.get("descriptor",
                                struct.pack("<IIII", 0x08074b50, crc, packed_size, size))
        central.append(struct.pack(
            "<IHHHHHHIIIHHHHHII", 0x02014b50, lies.get("made_by", 0x314), 20, flags, method, 0, 0x21,
            crc, packed_size, size, len(entry.name), len(extra), len(lies.get("comment", b"")),
            lies.get("disk", 0), 0, lies.get("attributes", 0o100644 << 16), offset)
            + entry.name + extra + lies.get("comment", b""))
    if order:
        central = [central[i] for i in order]
    out += gap
    at, directory = len(out), b"".join(central)
    fields = {"disk": 0, "start": 0, "here": len(central), "total": len(central),
              "size": len(directory), "offset": at, "comment": len(comment)}
    fields.update(end or {})
    return bytes(out + directory + struct.pack(
        "<IHHHHIIH", 0x06054b50, *(fields[k] for k in
                                   ("disk", "start", "here", "total", "size", "offset", "comment")))
        + comment + suffix)


def with_needed(*entries, **options):
    return make_zip([*NEEDED, *entries], **options)


# --- tar ----------------------------------------------------------------------------------------

def tar_header(name, size, kind=b"0", link=b"", size_field=None, bad_sum=False, magic=b"ustar\0" b"00"):
    name = name.encode() if isinstance(name, str) else name
    size_field = b"%011o\0" % size if size_field is None else size_field
    head = (name.ljust(100, b"\0")[:100] + b"0000644\0" + b"0000000\0" * 2 + size_field
            + b"00000000000\0" + b" " * 8 + kind + link.ljust(100, b"\0") + magic)
    head = head.ljust(512, b"\0")
    total = sum(head) + (1 if bad_sum else 0)
    return head[:148] + b"%06o\0 " % total + head[156:]


def tar_entry(name, data=b"", **options):
    return tar_header(name, options.pop("size", len(data)), **options) + data + bytes(-len(data) % 512)


def make_tar(*entries, end=bytes(1024)):
    return b"".join([*(tar_entry(n, d) for n, d in NEEDED), *entries]) + end


def pax(records):
    body = b""
    for key, value in records:
        line = b" " + key + b"=" + value + b"\n"
        length = len(line) + 1
        while length != len(line) + len(str(length)):
            length = len(line) + len(str(length))
        body += str(length).encode() + line
    return tar_entry("PaxHeader", body, kind=b"x")


def zstd_frame(blocks, window=None, size=None):
    """Blocks are (kind, data, length): 0 raw, 1 one byte repeated."""
    if window is not None:
        head = bytes([0]) + bytes([window])
    else:
        head = bytes([0xa0]) + struct.pack("<I", size)
    parts = [b"\x28\xb5\x2f\xfd", head]
    for i, (kind, data, length) in enumerate(blocks):
        value = length << 3 | kind << 1 | (i == len(blocks) - 1)
        parts += [struct.pack("<I", value)[:3], data]
    return b"".join(parts)


def zstd(data):
    pieces = [data[i:i + 65536] for i in range(0, len(data), 65536)]
    return zstd_frame([(0, piece, len(piece)) for piece in pieces], size=len(data))


def tar_of(files, format, top=""):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as tar:
        for name, data in files:
            info = tarfile.TarInfo(top + name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


# --- friendly -----------------------------------------------------------------------------------

GOOD = [
    *NEEDED,
    ("Workspace/Door.soul", b"Open when somebody comes near.\n"),
    ("Workspace/Door.soul.lua", b"-- made from Door.soul\nreturn 1\n"),
    ("ServerScriptService/Secret.lua", b"local key = 'x'\n"),
    ("StarterGui/Hud.ts", b"const x = 1;\n"),
    ("README.md", "Größe\n".encode()),
    ("LICENSE", b"Do as you like.\n"),
    ("assets/Tür.png", gradient_png(40, 20)),
    ("assets/grey.jpg", jpeg(20, 12)),
    ("assets/step.wav", wav()),
    ("assets/song.ogg", ogg()),
    ("assets/voice.ogg", ogg(1, 48000, 48000, opus=True)),
    ("assets/tree.glb", glb()),
    ("assets/models/rock.gltf", gltf(uri="rock%20data.bin")),
    ("assets/models/rock data.bin", TRIANGLE),
]


class Unseekable(io.RawIOBase):
    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def zip_by_python(files, method=zipfile.ZIP_DEFLATED, stream=False, system=3, folders=()):
    out = Unseekable() if stream else io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name in folders:
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = system, 0x10
            archive.writestr(info, b"")
        for name, data in files:
            info = zipfile.ZipInfo(name, (2024, 5, 6, 7, 8, 10))
            info.compress_type = method
            info.create_system = system
            info.external_attr = 0x20 if system == 0 else 0o100600 << 16
            archive.writestr(info, data)
    return out.data if stream else out.getvalue()


def friendly():
    """(name, bytes, warnings that must be among those given)"""
    inside = [("My Game/" + name, data) for name, data in GOOD]
    junk = [("__MACOSX/._place.json", b"\0\5\x16\7"), (".DS_Store", b"\0\0\0\1Bud1"),
            ("assets/Thumbs.db", b"\xd0\xcf\x11\xe0"), (".git/HEAD", b"ref: x\n"),
            ("node_modules/a/index.js", b"x")]
    yield "python.zip", zip_by_python(GOOD), []
    yield "stored.zip", zip_by_python(GOOD, zipfile.ZIP_STORED), []
    yield "streamed.zip", zip_by_python(GOOD, stream=True), []
    yield "windows.zip", zip_by_python(GOOD, system=0, folders=("assets/",)), []
    yield "folder.zip", zip_by_python(inside, folders=("My Game/",)), ["folder"]
    yield "junk.zip", zip_by_python(GOOD + junk), ["skipped"]
    yield "folder-and-junk.zip", zip_by_python(inside + junk), ["folder", "skipped"]
    yield "comment.zip", make_zip(GOOD, comment=b"0123456789abcdef0123456789abcdef01234567"), []
    yield "reversed.zip", make_zip(GOOD, order=range(len(GOOD) - 1, -1, -1)), []
    yield "descriptor.zip", make_zip([Entry(n, d, flags=0x808) for n, d in GOOD]), []
    yield "bare-descriptor.zip", make_zip(
        [Entry(n, d, flags=0x808, method=0, descriptor=struct.pack("<III", zlib.crc32(d), len(d), len(d)))
         for n, d in GOOD]), []
    yield "pax.tar", tar_of(GOOD, tarfile.PAX_FORMAT), []
    yield "gnu.tar", tar_of(GOOD, tarfile.GNU_FORMAT), []
    yield "ustar.tar", tar_of(GOOD, tarfile.USTAR_FORMAT), []
    yield "dot.tar", tar_of(GOOD, tarfile.GNU_FORMAT, "./"), []
    yield "folder.tar", tar_of(inside, tarfile.PAX_FORMAT), ["folder"]
    yield "plain.tar.gz", gzip.compress(tar_of(GOOD, tarfile.PAX_FORMAT)), []
    yield "plain.tar.zst", zstd(tar_of(GOOD, tarfile.PAX_FORMAT)), []
    exif = b"\xff\xe1\0\x0cExif\0\0abcd"
    yield "photo.zip", with_needed(("assets/a.jpg", jpeg(before=exif))), ["exif"]
    yield "pictures.zip", with_needed(
        ("assets/grey.png", png(7, 5, 0)), ("assets/bits.png", png(9, 5, 0, 1)),
        ("assets/deep.png", png(3, 3, 6, 16)), ("assets/lace.png", png(1, 1, 2, interlace=1)),
        ("assets/text.png", png(before=png_chunk(b"zTXt", b"key\0\0" + zlib.compress(b"hello" * 99)))),
        ("assets/slow.jpg", jpeg(40, 40, progressive=True))), []
    yield "brackets.zip", with_needed(("broken.json", b"[1, 2"), ("assets/a.txt", b"")), []


# --- hostile ------------------------------------------------------------------------------------

def overlapping(count, size):
    """One compressed kernel that every entry of the directory points to."""
    first = Entry("assets/0.txt", b"0" * size)
    return make_zip([*NEEDED, first, *(
        Entry(f"assets/{i}.txt", b"0" * size, central_only=True, offset=NEEDED_BYTES)
        for i in range(1, count))])


NEEDED_BYTES = len(make_zip(NEEDED)) - 22 - sum(46 + len(name) for name, _ in NEEDED)


def hostile_names():
    names = [
        ("absolute", "/etc/passwd.txt", "absolute"), ("drive", "C:/a.txt", "absolute"),
        ("dotdot", "../a.lua", "dotdot"), ("dotdot-inside", "a/../../b.lua", "dotdot"),
        ("dotdot-last", "a/..", "dotdot"), ("backslash", "a\\b.lua", "backslash"),
        ("backslash-dotdot", "..\\..\\a.lua", "backslash"), ("nul", b"a\0b.lua", "nul"),
        ("nul-last", b"a.lua\0", "nul"), ("escape", "a\x1b[31m.lua", "control"),
        ("newline", "a\nb.lua", "control"), ("delete", "a\x7f.lua", "control"),
        ("c1", "a\u009b31m.lua", "control"), ("bidi", "a\u202eaul.txt", "control"),
        ("zero-width", "Do\u200bor.lua", "control"), ("bom", "\ufeffa.lua", "control"),
        ("latin1", b"T\xfcr.lua", "utf8"), ("overlong", b"a\xc0\xafb.lua", "utf8"),
        ("surrogate", b"a\xed\xa0\x80.lua", "utf8"), ("nfd", "Tu\u0308r.lua", "utf8"),
        ("empty", "", "name"), ("empty-middle", "a//b.lua", "name"), ("dot", "a/./b.lua", "name"),
        ("device", "con.lua", "name"), ("device-folder", "a/AUX/b.lua", "name"),
        ("device-port", "LPT1.txt", "name"), ("stream", "ab:c.lua", "name"),
        ("star", "a*.lua", "name"), ("dot-last", "a./b.lua", "name"), ("space-last", "a /b.lua", "name"),
        ("long", "a" * 124 + ".lua", "long"), ("very-long", "a" * 30000 + ".lua", "long"),
        ("deep", "a/" * 13 + "b.lua", "depth"),
        ("exe", "a.exe", "kind"), ("svg", "assets/a.svg", "kind"), ("none", "assets/a", "kind"),
        ("capital", "assets/a.PNG", "kind"), ("rune", "Workspace/Door.rune", "kind"),
        ("zip", "assets/a.zip", "nested"), ("game", "inner.game", "nested")]
    for name, path, rule in names:
        yield f"name-{name}.zip", with_needed(Entry(path, b"x")), rule


def hostile_pairs():
    pairs = [
        ("twice", ["a.txt", "a.txt"], "duplicate"), ("place-twice", ["place.json"], "duplicate"),
        ("file-and-folder", ["a.txt", "a-b.txt", "a.txt/b.txt"], "duplicate"),
        ("case", ["Door.lua", "door.lua"], "case"), ("case-place", ["Place.json"], "case"),
        ("case-folder", ["Assets/a.txt", "assets/b.txt"], "case"),
        ("case-umlaut", ["\u00c4.txt", "\u00e4.txt"], "case"),
        ("case-greek", ["\u03a3.txt", "\u03c2.txt"], "case"),
        ("case-cyrillic", ["\u0416.txt", "\u0436.txt"], "case"),
        ("case-kelvin", ["\u212aey.txt", "key.txt"], "case"),
        ("case-wide", ["\uff21.txt", "\uff41.txt"], "case"),
        ("case-file-folder", ["A.txt", "a.txt/b.txt"], "case")]
    for name, paths, rule in pairs:
        yield f"pair-{name}.zip", with_needed(*(Entry(path, b"x") for path in paths)), rule


def hostile_kinds():
    yield "link.zip", with_needed(Entry("a.txt", b"/etc/passwd", attributes=0o120777 << 16)), "link"
    yield "link-dos.zip", with_needed(
        Entry("a.txt", b"/etc/passwd", attributes=0o120777 << 16, made_by=20)), "link"
    yield "fifo.zip", with_needed(Entry("a.txt", b"", attributes=0o010644 << 16)), "special"
    yield "device.zip", with_needed(Entry("a.txt", b"", attributes=0o060644 << 16)), "special"
    yield "folder-as-file.zip", with_needed(Entry("a.txt", b"", attributes=0o040755 << 16)), "header"
    yield "file-as-folder.zip", with_needed(Entry("a/", b"", attributes=0o100644 << 16)), "header"
    yield "folder-with-data.zip", with_needed(Entry("a/", b"data", attributes=0x10)), "header"
    yield "count.zip", with_needed(*(Entry(f"a/{i}.txt", b"") for i in range(4000))), "count"
    yield "entries.zip", with_needed(*(Entry(f"a/{i}/", b"", attributes=0x10) for i in range(16000))), "count"
    yield "script-large.zip", with_needed(Entry("Workspace/A.lua", b"-- x\n" * 60000)), "size"
    yield "text-large.zip", with_needed(Entry("a.txt", b"x" * ((1 << 20) + 1))), "size"
    yield "total.zip", with_needed(Entry("assets/a.wav", bytes(3 << 20), method=0), *(
        Entry(f"assets/{i}.wav", b"", method=0, size=60 << 20, packed_size=60 << 20)
        for i in range(5))), "size"
    yield "no-scene.zip", make_zip(NEEDED[:1]), "missing"
    yield "no-place.zip", make_zip(NEEDED[1:]), "missing"
    yield "empty.zip", make_zip([]), "missing"
    yield "two-folders.zip", make_zip([("a/place.json", PLACE), ("b/scene.json", SCENE)]), "missing"
    yield "only-junk.zip", make_zip([("__MACOSX/place.json", PLACE)]), "missing"


def hostile_bombs():
    yield "bomb-json.zip", with_needed(Entry("a.json", b"[" + b" " * (20 << 20))), "ratio"
    yield "bomb-wav.zip", with_needed(Entry("a.wav", bytes(40 << 20))), "ratio"
    yield "bomb-many.zip", with_needed(*(
        Entry(f"assets/{i}.txt", b"x" * (1 << 20)) for i in range(150))), "ratio"
    yield "bomb-lie.zip", with_needed(Entry("a.txt", b"y" * 500000, size=600)), "size"
    yield "bomb-lie-large.zip", with_needed(Entry("a.txt", b"y" * 600, size=60000)), "header"
    yield "bomb-overlap.zip", overlapping(800, 60000), "ratio"
    yield "bomb-overlap-small.zip", overlapping(20, 4000), "header"
    # Fifield's: each file's data is the next one's header, quoted, so that they share the kernel.
    inner = make_zip([Entry("b.txt", b"0" * 4000)])
    quoted = b"\0" + struct.pack("<HH", 40, 40 ^ 0xffff) + inner[:40]
    yield "bomb-quoted.zip", with_needed(
        Entry("a.txt", b"", method=8, packed=quoted, size=4000, packed_size=len(quoted) + 300)), "header"
    tar = make_tar(*(tar_entry(f"a/{i}.txt", bytes(1 << 20).replace(b"\0", b"z")) for i in range(60)))
    yield "bomb.tar.gz", gzip.compress(tar), "ratio"
    yield "bomb-large.tar.gz", gzip.compress(bytes(300 << 20), 1), "ratio"
    yield "bomb.tar.zst", zstd_frame(
        [(1, b"\0", 1 << 17)] * 3000, window=0x58), "ratio"
    yield "bomb-window.tar.zst", zstd_frame([(1, b"\0", 1 << 17)] * 3, window=0xf8), "format"
    yield "bomb-count.tar", make_tar(*(tar_entry(f"a/{i}.txt") for i in range(4000))), "count"


def hostile_structure():
    lie = dict(
        local_name=dict(local_name=b"b.txt"), local_method=dict(local_method=0, method=8),
        local_flags=dict(local_flags=0), local_size=dict(local_numbers=(zlib.crc32(b"x" * 50), 5, 50)),
        local_crc=dict(local_numbers=(1, len(deflate(b"x" * 50)), 50)),
        descriptor=dict(flags=0x808, descriptor=struct.pack("<IIII", 0x08074b50, 1, 2, 3)),
        no_descriptor=dict(flags=0x808, descriptor=b""), flags=dict(flags=0x820),
        extra_name=dict(extra=struct.pack("<HHBI", 0x7075, 5 + 5, 1, 0) + b"c.lua"),
        local_extra_name=dict(local_extra=struct.pack("<HHBI", 0x7075, 5 + 5, 1, 0) + b"c.lua"),
        extra_zip64=dict(extra=struct.pack("<HHQQ", 1, 16, 50, 50)),
        extra_long=dict(extra=struct.pack("<HH", 9, 900)), disk=dict(disk=3),
        size64=dict(size=0xffffffff), offset=dict(offset=5), offset_far=dict(offset=0x7fffffff),
        hidden=dict(before=make_zip([("evil.lua", b"x")])), stored_two_sizes=dict(method=0, size=60))
    for name, lies in lie.items():
        yield f"lie-{name}.zip", with_needed(Entry("a.txt", b"x" * 50, **lies)), "header"
    yield "encrypted.zip", with_needed(Entry("a.txt", b"x" * 50, flags=0x801)), "encrypted"
    yield "encrypted-strong.zip", with_needed(Entry("a.txt", b"x" * 50, flags=0x841)), "encrypted"
    yield "encrypted-aes.zip", with_needed(Entry("a.txt", b"x" * 50, method=99)), "encrypted"
    yield "bzip2.zip", with_needed(Entry("a.txt", b"x" * 50, method=12)), "format"
    yield "crc.zip", with_needed(Entry("a.txt", b"x" * 50, crc=7)), "checksum"
    yield "damaged.zip", with_needed(Entry("a.txt", b"x" * 50, packed=b"\xff" * 20)), "truncated"
    yield "behind.zip", with_needed(
        Entry("a.txt", b"x" * 50, packed=deflate(b"x" * 50) + b"more")), "header"
    yield "gap.zip", with_needed(("a.txt", b"x"), gap=b"hidden"), "header"
    yield "suffix.zip", with_needed(suffix=b"<script>"), "trailing"
    yield "suffix-zip.zip", with_needed() + with_needed(), "header"
    yield "prefix.zip", with_needed(prefix=b"MZ\x90\0"), "format"
    yield "prefix-zip.zip", with_needed(prefix=b"PK\3\4"), "header"
    yield "gif.zip", b"GIF89a" + with_needed(), "format"
    yield "jpeg-first.zip", jpeg() + with_needed(), "format"
    second = make_zip([("evil.lua", b"x")])
    yield "comment-end.zip", with_needed(comment=second[-22:]), "header"
    yield "comment-nul.zip", with_needed(comment=b"a\0b"), "trailing"
    yield "comment-long.zip", with_needed(comment=b"a" * 3000), "truncated"
    whole = with_needed(("a.txt", b"abc" * 100))
    yield "half.zip", whole[:len(whole) // 2], "truncated"
    yield "cut.zip", whole[:-1], "truncated"
    yield "head.zip", whole[:4], "truncated"
    for name, end in (("less", {"here": 2, "total": 2}), ("more", {"here": 9, "total": 9}),
                      ("other", {"here": 1}), ("disk", {"disk": 1, "start": 1}),
                      ("offset", {"offset": 0}), ("size", {"size": 1}),
                      ("zip64", {"here": 0xffff, "total": 0xffff}), ("far", {"offset": 0xffffffff})):
        yield f"end-{name}.zip", with_needed(("a.txt", b"x"), end=end), "header"


def hostile_contents():
    model = "assets/m.glb"

    def file(name, data, rule, *more):
        label = f"{name.replace('/', '-')}-{rule}"
        return label, with_needed(Entry(name, data, method=0), *more), rule

    cases = [
        file("assets/a.png", b"not a picture", "content"), file("assets/b.png", jpeg(), "content"),
        file("assets/c.png", png()[:-20], "truncated"), file("assets/d.png", png() + b"<html>", "trailing"),
        file("assets/e.png", png(70000, 1), "dimensions"), file("assets/f.png", png(4097, 1), "dimensions"),
        file("assets/g.png", png(0, 1), "dimensions"),
        file("assets/h.png", png(after=png_chunk(b"tEXt", b"a\0b", crc=1)), "checksum"),
        file("assets/i.png", png(before=png_chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(9 << 20)))), "ratio"),
        file("assets/j.png", png(before=png_chunk(b"iCCP", b"k\0\0" + zlib.compress(bytes(9 << 20)))), "ratio"),
        file("assets/k.png", png(before=png_chunk(b"iTXt", b"k\0\1\0\0\0" + zlib.compress(bytes(9 << 20)))), "ratio"),
        file("assets/l.png", png(pixels=bytes(9 << 20)), "content"),
        file("assets/m.png", png(pixels=b"\0" * 5), "content"),
        file("assets/n.png", png(before=png_chunk(b"acTL", bytes(8))), "content"),
        file("assets/o.png", png(before=png_chunk(b"IHDR", bytes(13))), "content"),
        file("assets/p.png", png(before=png_chunk(b"XXXX", b"")), "content"),
        file("assets/a.jpg", png(), "content"), file("assets/b.jpg", jpeg()[:-6], "truncated"),
        file("assets/c.jpg", jpeg(65000, 65000, blocks=1), "dimensions"),
        file("assets/d.jpg", jpeg() + make_zip(NEEDED), "trailing"),
        file("assets/e.jpg", jpeg(400, 400, blocks=2), "content"),
        file("assets/f.jpg", jpeg(64, 64, progressive=True, scans=200), "content"),
        file("assets/a.ogg", b"OggX" + bytes(60), "content"), file("assets/b.ogg", ogg()[:-3], "truncated"),
        file("assets/c.ogg", ogg()[:-1] + b"\1", "checksum"), file("assets/d.ogg", ogg() + b"PK", "trailing"),
        file("assets/e.ogg", ogg() + ogg(serial=8), "content"), file("assets/f.ogg", ogg(channels=0), "content"),
        file("assets/g.ogg", ogg(rate=1), "content"), file("assets/h.ogg", ogg(samples=44100 * 4000), "size"),
        file("assets/a.wav", b"RIFX" + bytes(60), "content"), file("assets/b.wav", wav(riff=9999), "truncated"),
        file("assets/c.wav", wav() + b"PK", "trailing"), file("assets/d.wav", wav(channels=0), "content"),
        file("assets/e.wav", wav(rate=7), "content"), file("assets/f.wav", wav(kind=2), "content"),
        file("assets/g.wav", wav(data=b"abc"), "content"),
        file("assets/h.wav", wav(extra=b"LIST" + struct.pack("<I", 0x7fffffff)), "truncated"),
        file("Workspace/A.lua", b"\x1bLua\x54\0\x19\x93", "content"),
        file("Workspace/B.lua", "-- Größe".encode("latin-1"), "content"),
        file("a.json", b"hello", "content"), file("b.txt", b"a\0b", "content"),
        file("c.txt", make_zip(NEEDED), "nested"), file("d.txt", gzip.compress(b"x"), "nested"),
        file("chunks/0_0_0.chunk", make_tar(), "nested"), file("a.bin", b"7z\xbc\xaf\x27\x1c12", "nested"),
        file("b.bin", b"whatever", "content"),
        file(model, b"glTF", "content"), file("assets/n.glb", glb() + b"PK", "trailing"),
        file("assets/o.glb", glb(length=99999), "truncated"),
        file("assets/p.glb", glb(set_at("accessors", 0, {
            "componentType": 5126, "count": 700000, "type": "VEC3"})).replace(
                b'"indices": 1', b'"mode": 4   '), "triangles"),
        file("assets/r.glb", glb(set_at("accessors", 0, "count", 4)), "content"),
        file("assets/s.glb", glb(set_at("bufferViews", 1, "byteLength", 600)), "content"),
        file("assets/t.glb", glb(binary=TRIANGLE[:36] + struct.pack("<3H", 0, 1, 3) + b"\0\0"), "content"),
        file("assets/u.glb", glb(set_at("nodes", [{"children": [1]}, {"children": [0]}])), "content"),
        file("assets/v.glb", glb(set_at("images", [{"uri": "http://example.com/a.png"}])), "content"),
        file("assets/w.glb", glb(set_at("images", [{"uri": "../../a.png"}])), "content"),
        file("assets/x.glb", glb(set_at("images", [{"uri": "%2e%2e/place.json"}])), "content"),
        file("assets/y.glb", glb(set_at("extensionsRequired", ["KHR_draco_mesh_compression"])), "content"),
        *(file(f"assets/packed{i}.glb", glb(set_at("extensionsUsed", [name])), "content") for i, name in enumerate(
            ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"))),
        file("assets/z.glb", glb(set_at("images", [{"bufferView": 0, "mimeType": "image/png"}])), "content"),
        file("assets/a.gltf", gltf(uri="missing.bin"), "content"),
        file("assets/b.gltf", gltf(uri="file:///etc/passwd"), "content"),
        file("assets/c.gltf", gltf(uri="data:text/plain,hello"), "content"),
        file("assets/d.gltf", b"{" * 40000, "content"),
        file("assets/e.gltf", gltf(uri="a.bin"), "content", Entry("assets/a.bin", TRIANGLE * 2)),
    ]
    for label, data, rule in cases:
        yield label + ".zip", data, rule
    # Instances count: 8,000 nodes that show one mesh of 30 triangles.
    many = glb(lambda m: (m.update(nodes=[{"mesh": 0}] * 8000),
                          m["meshes"][0].update(primitives=m["meshes"][0]["primitives"] * 30)))
    yield "instances.zip", with_needed(Entry("assets/q.glb", many)), "triangles"


def hostile_tars():
    def one(name, rule, *parts, **options):
        return f"{name}.tar", make_tar(*parts, **options), rule
    good = tar_entry("a.txt", b"abc")
    yield from [
        one("absolute", "absolute", tar_entry("/a.txt")), one("dotdot", "dotdot", tar_entry("../a.txt")),
        one("symlink", "link", tar_entry("a.txt", kind=b"2", link=b"/etc/passwd")),
        one("hardlink", "link", tar_entry("a.txt", kind=b"1", link=b"place.json")),
        one("fifo", "special", tar_entry("a.txt", kind=b"6")),
        one("chardev", "special", tar_entry("a.txt", kind=b"3")),
        one("blockdev", "special", tar_entry("a.txt", kind=b"4")),
        one("huge", "size", tar_header("a.txt", 0, size_field=b"\x80" + bytes(5) + b"\x7f" + bytes(5))),
        one("larger", "truncated", tar_header("a.txt", 800000)),
        one("negative", "header", tar_header("a.txt", 0, size_field=b"\xff" * 12)),
        one("checksum", "header", tar_header("a.txt", 0, bad_sum=True)),
        one("pax-dotdot", "dotdot", pax([(b"path", b"../x.txt")]), good),
        one("pax-absolute", "absolute", pax([(b"path", b"/x.txt")]), good),
        one("pax-rename", "duplicate", pax([(b"path", b"place.json")]), good),
        one("pax-link", "link", pax([(b"linkpath", b"/etc/passwd")]), tar_entry("a.txt", kind=b"2")),
        one("pax-size", "size", pax([(b"size", b"99999999999")]), good),
        one("pax-sparse", "special", pax([(b"GNU.sparse.size", b"99999"), (b"GNU.sparse.numblocks", b"2"),
                                         (b"GNU.sparse.map", b"0,3,5000,0"),
                                         (b"GNU.sparse.name", b"b.txt")]), good),
        one("long-name", "long", tar_entry("././@LongLink", b"a" * 5000 + b".txt\0", kind=b"L"), good),
        one("nul-name", "duplicate", pax([(b"path", b"place.json\0.txt")]), good),
        one("twice", "duplicate", good, good), one("case", "case", good, tar_entry("A.txt", b"abc")),
        one("no-end", "truncated", good, end=b""), one("behind", "trailing", good, end=bytes(1024) + b"evil"),
        one("second", "trailing", good, end=bytes(1024) + tar_entry("b.txt", b"x") + bytes(1024)),
        one("kind", "kind", tar_entry("a.sh", b"x")),
    ]
    whole = make_tar(good)
    yield "cut.tar", whole[:1800], "truncated"
    yield "cut.tar.gz", gzip.compress(whole)[:-9], "truncated"
    yield "crc.tar.gz", gzip.compress(whole)[:-8] + bytes(8), "checksum"
    yield "members.tar.gz", gzip.compress(whole[:1024]) + gzip.compress(whole[1024:]), "trailing"
    yield "behind.tar.gz", gzip.compress(whole) + b"evil", "trailing"
    yield "twice.tar.gz", gzip.compress(gzip.compress(whole)), "format"
    yield "zip.tar.gz", gzip.compress(make_zip(NEEDED)), "format"
    yield "cut.tar.zst", zstd(whole)[:-9], "truncated"
    yield "behind.tar.zst", zstd(whole) + b"evil", "trailing"
    yield "zip.tar.zst", zstd(make_zip(NEEDED)), "format"
    yield "nothing", b"", "format"
    yield "html.game", b"<html>" * 200, "format"
    yield "seven.game", b"7z\xbc\xaf\x27\x1c" + bytes(600), "format"
    yield "rar.game", b"Rar!\x1a\x07\x01\0" + bytes(600), "format"


def hostile():
    """(name, bytes, rule)"""
    for group in (hostile_names, hostile_pairs, hostile_kinds, hostile_bombs, hostile_structure,
                  hostile_contents, hostile_tars):
        yield from group()


def write_seeds(folder):
    """Small ones, of every shape, for the fuzzers: files in `package` and `asset`."""
    package, asset = Path(folder, "package"), Path(folder, "asset")
    for path in (package, asset):
        path.mkdir(parents=True, exist_ok=True)
    small = [("place.json", b'{"format":1,"name":"a"}'), ("scene.json", b"{}"), ("a.txt", b"x" * 50)]
    seeds = {
        "deflated": make_zip(small), "descriptor": make_zip([Entry(n, d, flags=0x808) for n, d in small]),
        "folder": make_zip([("a/" + n, d) for n, d in small]), "tar": make_tar(tar_entry("a.txt", b"x")),
        "pax": tar_of(small, tarfile.PAX_FORMAT)[:6144], "gzip": gzip.compress(make_tar(), mtime=0),
        "zstd": zstd(make_tar()), "link": make_zip([Entry("a", b"b", attributes=0o120777 << 16)]),
        "overlap": overlapping(3, 400), "png": with_needed(("assets/a.png", png())),
        "glb": with_needed(("assets/a.glb", glb())), "sound": with_needed(("a.ogg", ogg()), ("a.wav", wav()))}
    for name, data in seeds.items():
        (package / name).write_bytes(data)
    # The first byte says which kind; see fuzz_asset.c.
    assets = {"png": (4, png()), "lace": (4, png(5, 5, 6, 8, interlace=1, pixels=None)[:80]),
              "text": (4, png(before=png_chunk(b"zTXt", b"k\0\0" + zlib.compress(b"a" * 99)))),
              "jpeg": (5, jpeg()), "progressive": (5, jpeg(16, 16, True)), "ogg": (6, ogg()),
              "opus": (6, ogg(opus=True)), "wav": (7, wav(frames=9)), "glb": (8, glb()),
              "gltf": (9, gltf(uri="data:;base64,AAAA")),
              "image": (8, glb(lambda m: (m["bufferViews"].append({"buffer": 0, "byteOffset": 44, "byteLength": len(png())}),
                                          m.update(images=[{"bufferView": 2, "mimeType": "image/png"}])),
                               binary=TRIANGLE + png() + bytes(-len(png()) % 4)))}
    for name, (kind, data) in assets.items():
        (asset / name).write_bytes(bytes([kind]) + data)
    reply = Path(folder, "package_reply")
    reply.mkdir(parents=True, exist_ok=True)
    (reply / "contents").write_bytes(b"\1" + reply_of(small, True))
    (reply / "names").write_bytes(b"\0" + reply_of(small, False))


def reply_of(files, with_contents):
    """What a worker says of an accepted package; see op_package.c."""
    def block(data):
        return struct.pack("<I", len(data)) + data
    out = struct.pack("<I", 0) + block(b"a") + struct.pack("<I", 0) + block(b"")
    out += struct.pack("<I", len(files))
    for name, data in sorted(files):
        kind = 1 if name.endswith(".json") else 3
        out += block(name.encode()) + struct.pack("<Q7IBQ", 1, kind, 0, 0, 0, 0, 0, 0, 0, len(data))
        out += data if with_contents else b""
    return out


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "seeds":
        sys.exit(__doc__)
    write_seeds(sys.argv[2])
