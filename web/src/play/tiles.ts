// How a picture lies on a shape. On each side it is repeated a whole number of times, so that one copy is
// as near as can be to TILE_M wide and high, and nothing is cut off; a side smaller than that shows it
// once. Shapes are unit geometries that each instance scales, so the shader counts the copies.
import * as THREE from 'three';

const TILE_M = 4;

type Triple = [number, number, number];

// For a vertex of a flat side: where on the picture it is, and along which edges of the half size the
// picture runs, times two.
function flat(at: Triple, [nx, ny, nz]: Triple): { uv: [number, number]; u: Triple; v: Triple } {
    const [x, y, z] = at;
    if (Math.abs(nx) > 0.9) {
        return { uv: [(1 - Math.sign(nx) * z) / 2, (y + 1) / 2], u: [0, 0, 2], v: [0, 2, 0] };
    }
    if (Math.abs(ny) > 0.9) {
        return { uv: [(x + 1) / 2, (1 - Math.sign(ny) * z) / 2], u: [2, 0, 0], v: [0, 0, 2] };
    }
    return { // upright, or a slope, which is as long as both of its edges make it
        uv: [(1 + Math.sign(nz) * x) / 2, (y + 1) / 2], u: [2, 0, 0],
        v: Math.abs(nz) > 0.9 ? [0, 2, 0] : [0, 2, 2],
    };
}

// Around a cylinder or a sphere the picture runs as the geometry's own.
function round(uv: [number, number], high: number): { uv: [number, number]; u: Triple; v: Triple } {
    return { uv, u: [Math.PI * 2, 0, 0], v: [0, high, 0] };
}

// A unit box cut from its lower -z edge to its upper +z edge.
export function wedge(): THREE.BufferGeometry {
    const a = [-1, -1, -1], b = [1, -1, -1], c = [1, -1, 1], d = [-1, -1, 1];
    const e = [1, 1, 1], f = [-1, 1, 1];
    const triangles = [a, b, c, a, c, d, d, c, e, d, e, f, a, f, e, a, e, b, b, e, c, a, d, f];
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(triangles.flat(), 3));
    geometry.computeVertexNormals();
    return geometry;
}

// Gives a unit geometry what the shader below needs.
export function addTiles(geometry: THREE.BufferGeometry, shape: 'flat' | 'cylinder' | 'sphere'):
THREE.BufferGeometry {
    const position = geometry.getAttribute('position');
    const normal = geometry.getAttribute('normal');
    const own = shape === 'flat' ? null : geometry.getAttribute('uv');
    const uvs: number[] = [];
    const us: number[] = [];
    const vs: number[] = [];
    for (let i = 0; i < position.count; i++) {
        const n: Triple = [normal.getX(i), normal.getY(i), normal.getZ(i)];
        const tile = own !== null && (shape === 'sphere' || Math.abs(n[1]) < 0.9)
            ? round([own.getX(i), own.getY(i)], shape === 'sphere' ? Math.PI : 2)
            : flat([position.getX(i), position.getY(i), position.getZ(i)], n);
        uvs.push(...tile.uv);
        us.push(...tile.u);
        vs.push(...tile.v);
    }
    geometry.setAttribute('uv', new THREE.Float32BufferAttribute(uvs, 2));
    geometry.setAttribute('tileU', new THREE.Float32BufferAttribute(us, 3));
    geometry.setAttribute('tileV', new THREE.Float32BufferAttribute(vs, 3));
    return geometry;
}

// By the kinds of shapes: box, wedge, sphere, cylinder.
let shapes: THREE.BufferGeometry[] | null = null;

export function tiledShape(kind: number): THREE.BufferGeometry {
    shapes ??= [
        addTiles(new THREE.BoxGeometry(2, 2, 2), 'flat'), addTiles(wedge(), 'flat'),
        addTiles(new THREE.SphereGeometry(1, 20, 14), 'sphere'),
        addTiles(new THREE.CylinderGeometry(1, 1, 2, 20), 'cylinder'),
    ];
    return shapes[kind] ?? shapes[0] as THREE.BufferGeometry;
}

const HEAD = 'attribute vec3 tileU;\nattribute vec3 tileV;\n';
const COUNT = `#include <uv_vertex>
#if defined( USE_MAP ) && defined( USE_INSTANCING )
    vec3 tileSize = vec3( length( instanceMatrix[0].xyz ), length( instanceMatrix[1].xyz ),
        length( instanceMatrix[2].xyz ) );
    vMapUv *= max( vec2( 1.0 ), floor( vec2( length( tileU * tileSize ),
        length( tileV * tileSize ) ) / float( ${TILE_M} ) + 0.5 ) );
#endif
`;

// A picture on the sides of shapes.
export function tiledMaterial(map: THREE.Texture, opacity: number): THREE.Material {
    const material = new THREE.MeshLambertMaterial({
        map, transparent: opacity < 1, opacity, depthWrite: opacity === 1,
        alphaTest: opacity === 1 ? 0.5 : 0,
    });
    material.onBeforeCompile = (shader) => {
        shader.vertexShader = HEAD + shader.vertexShader.replace('#include <uv_vertex>', COUNT);
    };
    material.customProgramCacheKey = () => 'tiles';
    return material;
}
