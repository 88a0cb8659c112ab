// Writes small pictures and models for tests, so that the repository holds no binary files and a test
// knows every pixel and corner.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

function pngChunk(type, data) {
    const chunk = Buffer.alloc(12 + data.length);
    chunk.writeUInt32BE(data.length, 0);
    chunk.write(type, 4, 'latin1');
    data.copy(chunk, 8);
    chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
    return chunk;
}

// `pixel` gives red, green and blue of a place, the first row being the upper one.
export function makePng(width, height, pixel) {
    const head = Buffer.alloc(13);
    head.writeUInt32BE(width, 0);
    head.writeUInt32BE(height, 4);
    head.set([8, 2, 0, 0, 0], 8); // 8 bits, RGB
    const rows = Buffer.alloc(height * (1 + width * 3));
    for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) {
            rows.set(pixel(x, y), y * (1 + width * 3) + 1 + x * 3);
        }
    }
    return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
        pngChunk('IHDR', head), pngChunk('IDAT', deflateSync(rows)),
        pngChunk('IEND', Buffer.alloc(0))]);
}

// What a screenshot shows, as {width, height, at(x, y)} with red, green and blue from 0 to 255.
export function readPng(file) {
    const width = file.readUInt32BE(16);
    const height = file.readUInt32BE(20);
    const size = file[25] === 6 ? 4 : 3; // with or without transparency
    const data = [];
    for (let from = 8; from < file.length; from += 12 + file.readUInt32BE(from)) {
        if (file.toString('latin1', from + 4, from + 8) === 'IDAT') {
            data.push(file.subarray(from + 8, from + 8 + file.readUInt32BE(from)));
        }
    }
    const rows = inflateSync(Buffer.concat(data));
    const line = width * size;
    const out = Buffer.alloc(line * height);
    for (let y = 0; y < height; y++) {
        const filter = rows[y * (line + 1)];
        for (let x = 0; x < line; x++) {
            const left = x < size ? 0 : out[y * line + x - size];
            const up = y === 0 ? 0 : out[(y - 1) * line + x];
            const corner = x < size || y === 0 ? 0 : out[(y - 1) * line + x - size];
            const guess = left + up - corner;
            const [a, b, c] = [left, up, corner].map((each) => Math.abs(guess - each));
            const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
            out[y * line + x] = rows[y * (line + 1) + 1 + x] +
                [0, left, up, (left + up) >> 1, paeth][filter];
        }
    }
    return { width, height, at: (x, y) => [...out.subarray(y * line + x * size, y * line + x * size + 3)] };
}

// A cube of edge 2 around `at`: six sides of four corners.
function cube([x, y, z]) {
    const positions = [];
    const normals = [];
    const uvs = [];
    const indices = [];
    for (let axis = 0; axis < 3; axis++) {
        for (const side of [-1, 1]) {
            const first = positions.length / 3;
            for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
                const corner = [0, 0, 0];
                corner[axis] = side;
                corner[(axis + 1) % 3] = u * side;
                corner[(axis + 2) % 3] = v;
                positions.push(corner[0] + x, corner[1] + y, corner[2] + z);
                normals.push(...[0, 1, 2].map((each) => each === axis ? side : 0));
                uvs.push((u + 1) / 2, (1 - v) / 2);
            }
            indices.push(...[0, 1, 2, 0, 2, 3].map((each) => each + first));
        }
    }
    return { positions, normals, uvs, indices };
}

const CLIP_SECONDS = [0, 1];

// A cube as a GLB. `picture`: a PNG on it; `colour`: red, green, blue from 0 to 1; `at`: its middle;
// `clips`: names of movements, by which it turns around; `bone`: it hangs on a skeleton of one bone; `times`:
// how often each of its triangles is there.
export function makeGlb({ picture = null, colour = [1, 1, 1], at = [0, 0, 0], clips = [],
    bone = false, times = 1 }) {
    const { positions, normals, uvs, indices: once } = cube(at);
    const indices = Array.from({ length: times }, () => once).flat();
    const pieces = [];
    let bytes = 0;
    const document = {
        asset: { version: '2.0', generator: 'test' }, scene: 0, scenes: [{ nodes: [0] }],
        nodes: [{ mesh: 0, name: 'cube' }], bufferViews: [], accessors: [],
        materials: [{ pbrMetallicRoughness: { baseColorFactor: [...colour, 1] } }],
        meshes: [{ primitives: [{ attributes: {}, material: 0 }] }],
    };
    const view = (data) => {
        const padded = Buffer.alloc(Math.ceil(data.length / 4) * 4);
        padded.set(data);
        document.bufferViews.push({ buffer: 0, byteOffset: bytes, byteLength: data.length });
        bytes += padded.length;
        pieces.push(padded);
        return document.bufferViews.length - 1;
    };
    const accessor = (array, componentType, type, count, more = {}) => {
        document.accessors.push({
            bufferView: view(Buffer.from(array.buffer)), componentType, type, count, ...more,
        });
        return document.accessors.length - 1;
    };
    const [primitive] = document.meshes[0].primitives;
    const corners = positions.length / 3;
    primitive.attributes.POSITION = accessor(new Float32Array(positions), 5126, 'VEC3', corners, {
        min: at.map((value) => value - 1), max: at.map((value) => value + 1),
    });
    primitive.attributes.NORMAL = accessor(new Float32Array(normals), 5126, 'VEC3', corners);
    primitive.attributes.TEXCOORD_0 = accessor(new Float32Array(uvs), 5126, 'VEC2', corners);
    primitive.indices = accessor(new Uint16Array(indices), 5123, 'SCALAR', indices.length);
    if (picture !== null) {
        document.images = [{ bufferView: view(picture), mimeType: 'image/png' }];
        document.textures = [{ source: 0 }];
        document.materials[0].pbrMetallicRoughness.baseColorTexture = { index: 0 };
    }
    if (bone) {
        document.nodes[0].skin = 0;
        document.nodes.push({ name: 'bone' });
        document.scenes[0].nodes.push(1);
        primitive.attributes.JOINTS_0 = accessor(new Uint8Array(corners * 4), 5121, 'VEC4', corners);
        primitive.attributes.WEIGHTS_0 = accessor(
            Float32Array.from({ length: corners * 4 }, (_, i) => i % 4 === 0 ? 1 : 0), 5126, 'VEC4',
            corners);
        document.skins = [{
            joints: [1],
            inverseBindMatrices: accessor(
                new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), 5126, 'MAT4', 1),
        }];
    }
    if (clips.length > 0) {
        const input = accessor(new Float32Array(CLIP_SECONDS), 5126, 'SCALAR', 2,
            { min: [0], max: [1] });
        const output = accessor(new Float32Array([0, 0, 0, 1, 0, 0.7071068, 0, 0.7071068]), 5126,
            'VEC4', 2);
        document.animations = clips.map((name) => ({
            name, samplers: [{ input, output }],
            channels: [{ sampler: 0, target: { node: bone ? 1 : 0, path: 'rotation' } }],
        }));
    }
    document.buffers = [{ byteLength: bytes }];
    return packGlb(document, Buffer.concat(pieces));
}

export function packGlb(document, body) {
    const text = Buffer.from(JSON.stringify(document));
    const json = Buffer.alloc(Math.ceil(text.length / 4) * 4, 0x20);
    json.set(text);
    const head = Buffer.alloc(12);
    head.write('glTF', 0, 'latin1');
    head.writeUInt32LE(2, 4);
    head.writeUInt32LE(12 + 8 + json.length + 8 + body.length, 8);
    const chunk = (type, data) => {
        const begin = Buffer.alloc(8);
        begin.writeUInt32LE(data.length, 0);
        begin.write(type, 4, 'latin1');
        return Buffer.concat([begin, data]);
    };
    return Buffer.concat([head, chunk('JSON', json), chunk('BIN\0', body)]);
}
