// The sky: a dome with sun, moon and stars, the light that falls from it, the fog, and rain or snow.
// Everything follows from the hour, which the core says, unless scripts gave colours. What changes does so
// over some tenths of a second, so that a script that changes the sky all the time does not make it flash.
import * as THREE from 'three';

import { approach } from './flash.ts';

// What others light the world with: the sun, or the moon at night, and the sky all around.
export interface Daylight {
    direction: THREE.Vector3; // towards the sun or the moon
    sun: THREE.Color;
    sunStrength: number;
    above: THREE.Color; // light of the sky
    below: THREE.Color; // and of the ground
    skyStrength: number;
}

export const WEATHER = ['clear', 'rain', 'snow'] as const;

// Of a part of a colour; of a strength twice as much. In a sixth of a second that is less than a tenth of
// what the eye can tell apart, so a sky that is changed to and fro gives no more than three flashes a second.
const CHANGE_A_SECOND = 0.35;
const HOURS_A_SECOND = 12; // how fast the sun goes to another place
const FOG_CHANGE = 1.5; // of the distance, in a second
const FOG_FROM = 0.4; // of the distance at which all is fog
const DROPS = 700;
const BOX_M = 22; // around the camera, where it rains

// By hour: the sky straight up, all around, the sun's colour, and how strong sun and sky shine.
const HOURS: readonly [number, number, number, number, number, number][] = [
    [0, 0x070d22, 0x17233f, 0x9db4e8, 0.54, 0.66],
    [4.5, 0x0b1430, 0x26304f, 0x9db4e8, 0.42, 0.72],
    [6, 0x3c5a94, 0xf0a878, 0xffb27a, 0.84, 1.38],
    [7.5, 0x4b8cc9, 0xf3d9b8, 0xffdcae, 2.04, 1.44],
    [10, 0x3f8fd6, 0xcfe6f2, 0xfff0d2, 3.12, 1.62],
    [14, 0x3f8fd6, 0xcfe6f2, 0xfff0d2, 3.12, 1.62],
    [16.5, 0x4b8cc9, 0xf3dcb8, 0xffd9a4, 2.28, 1.44],
    [18, 0x41508c, 0xf08a58, 0xff9a5c, 0.84, 1.38],
    [19.5, 0x101a3c, 0x3a3458, 0x9db4e8, 0.36, 0.72],
    [24, 0x070d22, 0x17233f, 0x9db4e8, 0.54, 0.66],
];

// top, horizon and sun as three numbers each, then how strong sun and sky shine. A colour's numbers are roots
// of amounts of light: they are as far apart as the eye sees them.
const PARTS = 11;
type Parts = Float32Array;
function writeColour(colour: THREE.Color, parts: Parts, at: number): void {
    parts[at] = Math.sqrt(colour.r);
    parts[at + 1] = Math.sqrt(colour.g);
    parts[at + 2] = Math.sqrt(colour.b);
}
function readColour(colour: THREE.Color, parts: Parts, at: number): void {
    colour.setRGB((parts[at] ?? 0) ** 2, (parts[at + 1] ?? 0) ** 2, (parts[at + 2] ?? 0) ** 2);
}
const table = HOURS.map(([, top, horizon, sun, sunStrength, skyStrength]) => {
    const parts = new Float32Array(PARTS);
    [top, horizon, sun].forEach((each, i) => writeColour(new THREE.Color(each), parts, i * 3));
    parts.set([sunStrength, skyStrength], 9);
    return parts;
});

function partsAt(hour: number, out: Parts): void {
    let next = 1;
    while (next < HOURS.length - 1 && (HOURS[next]?.[0] ?? 24) < hour) {
        next += 1;
    }
    const from = HOURS[next - 1]?.[0] ?? 0;
    const part = (hour - from) / ((HOURS[next]?.[0] ?? 24) - from);
    for (let i = 0; i < PARTS; i++) {
        const a = table[next - 1]?.[i] ?? 0;
        out[i] = a + ((table[next]?.[i] ?? 0) - a) * part;
    }
}

const DOME_VERTEX = `
    varying vec3 way;
    void main() {
        way = position;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
    }`;

const DOME_FRAGMENT = `
    uniform vec3 top, horizon, sunColour, sunWay;
    uniform float night, clear;
    varying vec3 way;
    float star(vec3 at) {
        vec3 cell = floor(at * 90.0);
        float seed = fract(sin(dot(cell, vec3(12.99, 78.23, 37.72))) * 43758.5);
        return seed > 0.9965 ? (1.0 - smoothstep(0.1, 0.45, length(fract(at * 90.0) - 0.5))) : 0.0;
    }
    void main() {
        vec3 at = normalize(way);
        vec3 colour = mix(horizon, top, sqrt(clamp(at.y * 1.15, 0.0, 1.0)));
        float near = dot(at, sunWay);
        float low = smoothstep(-0.12, 0.02, sunWay.y);
        colour += sunColour * clear * low * (0.35 * pow(max(near, 0.0), 48.0)
            + 1.6 * smoothstep(0.9990, 0.9994, near));
        float moon = smoothstep(0.9990, 0.9994, -near) * smoothstep(-0.02, 0.1, -sunWay.y);
        colour = mix(colour, vec3(0.82, 0.86, 0.95), moon * clear);
        colour += night * clear * star(at) * smoothstep(0.0, 0.3, at.y);
        gl_FragColor = vec4(colour, 1.0);
        #include <colorspace_fragment>
    }`;

// A drop falls through a box around the camera and begins again at its top; nothing of it is computed
// here again once the buffers are made.
const DROP_VERTEX = `
    uniform float time, fall, sway;
    uniform vec2 size;
    attribute vec3 seed;
    varying vec2 at;
    void main() {
        at = position.xy;
        vec3 box = vec3(${BOX_M}.0);
        vec3 moved = seed * box + vec3(sin(time + seed.y * 40.0) * sway, -time * fall * (0.8 + 0.4 * seed.x),
            cos(time * 0.8 + seed.x * 40.0) * sway);
        vec3 world = cameraPosition + mod(moved - cameraPosition, box) - box * 0.5;
        vec3 side = normalize(cross(vec3(0.0, 1.0, 0.0), world - cameraPosition + vec3(1e-3, 0.0, 0.0)));
        world += side * position.x * size.x + vec3(0.0, position.y * size.y, 0.0);
        gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
    }`;

const DROP_FRAGMENT = `
    uniform vec4 colour;
    varying vec2 at;
    void main() {
        gl_FragColor = vec4(colour.rgb, colour.a * (1.0 - smoothstep(0.2, 1.0, length(at))));
        #include <colorspace_fragment>
    }`;

function makeDrops(): THREE.Mesh<THREE.InstancedBufferGeometry, THREE.ShaderMaterial> {
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(
        [-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0], 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    const seeds = new Float32Array(DROPS * 3).map(() => Math.random());
    geometry.setAttribute('seed', new THREE.InstancedBufferAttribute(seeds, 3));
    const mesh = new THREE.Mesh(geometry, new THREE.ShaderMaterial({
        vertexShader: DROP_VERTEX, fragmentShader: DROP_FRAGMENT,
        transparent: true, depthWrite: false, side: THREE.DoubleSide,
        uniforms: {
            time: { value: 0 }, fall: { value: 0 }, sway: { value: 0 },
            size: { value: new THREE.Vector2() }, colour: { value: new THREE.Vector4() },
        },
    }));
    mesh.frustumCulled = false;
    mesh.visible = false;
    mesh.renderOrder = 3;
    return mesh;
}

const given = new THREE.Color();
const WHITE = new THREE.Color(1, 1, 1);

export class SkyView {
    readonly group = new THREE.Group();
    readonly fog = new THREE.Fog(0xcfe6f2, 60, 140);
    readonly daylight: Daylight = {
        direction: new THREE.Vector3(0, 1, 0), sun: new THREE.Color(), sunStrength: 0,
        above: new THREE.Color(), below: new THREE.Color(), skyStrength: 0,
    };
    readonly top = new THREE.Color();
    readonly horizon = new THREE.Color();
    hour = 10; // as the core says it
    weather = 0;
    particles = 1; // share of the drops that is drawn
    private shownHour = 10;
    private wet = 0; // how much it rains or snows, 0 to 1
    private falls = 1; // which of the two was last
    sight = 164; // how far away things are drawn
    private isNew = true; // the next state is shown at once
    private readonly wanted = new Float32Array(PARTS);
    private readonly shown = new Float32Array(PARTS);
    private readonly sunWay = new THREE.Vector3(0, 1, 0);
    private readonly dome: THREE.Mesh<THREE.SphereGeometry, THREE.ShaderMaterial>;
    private readonly drops = makeDrops();

    constructor() {
        this.dome = new THREE.Mesh(new THREE.SphereGeometry(500, 24, 16), new THREE.ShaderMaterial({
            vertexShader: DOME_VERTEX, fragmentShader: DOME_FRAGMENT,
            side: THREE.BackSide, depthWrite: false,
            uniforms: {
                top: { value: this.top }, horizon: { value: this.horizon },
                sunColour: { value: this.daylight.sun }, sunWay: { value: this.sunWay },
                night: { value: 0 }, clear: { value: 1 },
            },
        }));
        this.dome.renderOrder = -1;
        this.dome.frustumCulled = false;
        this.group.add(this.dome, this.drops);
    }

    reset(): void {
        this.isNew = true;
    }

    // How bright the day is, from 0 to 1, for what has no light of its own.
    level(): number {
        return Math.min((this.daylight.sunStrength + this.daylight.skyStrength) / 4.7, 1);
    }

    // A row of clientSky.
    update(row: Float64Array, eye: THREE.Vector3, seconds: number): void {
        const [hour = 10, fog = 0, weather = 0, top = 0, horizon = 0, sun = 0] = row;
        this.hour = hour;
        this.weather = weather;
        this.wet = this.isNew ? Math.sign(weather) : approach(this.wet, Math.sign(weather), seconds * 0.7);
        this.falls = weather > 0 ? weather : this.falls;
        partsAt(hour, this.wanted);
        this.give(0, top);
        this.give(3, horizon);
        this.give(6, sun);
        this.darken();
        const most = this.isNew ? Infinity : CHANGE_A_SECOND * seconds;
        for (let i = 0; i < PARTS; i++) {
            const goal = this.wanted[i] ?? 0;
            this.shown[i] = approach(this.shown[i] ?? 0, goal, i < 9 ? most : most * 2);
        }
        this.turn(hour, this.isNew ? Infinity : HOURS_A_SECOND * seconds);
        this.spread(fog > 0 ? Math.min(fog, this.sight) : this.sight, seconds);
        this.fallDown(seconds);
        this.dome.position.copy(eye);
        this.isNew = false;
    }

    // A colour that a script gave takes the place of the hour's.
    private give(at: number, colour: number): void {
        if (colour > 0) {
            writeColour(given.set(colour - 1), this.wanted, at);
        }
    }

    // Clouds: grey, and less of the sun.
    private darken(): void {
        const grey = this.wet * 0.6;
        const bright = ((this.wanted[3] ?? 0) + (this.wanted[4] ?? 0) + (this.wanted[5] ?? 0)) / 3 * 0.55;
        for (let i = 0; i < 6; i++) {
            const part = this.wanted[i] ?? 0;
            this.wanted[i] = part + (bright - part) * grey;
        }
        this.wanted[9] = (this.wanted[9] ?? 0) * (1 - this.wet * 0.7);
    }

    // The sun goes from +x over the south to -x; the moon stands opposite.
    private turn(hour: number, most: number): void {
        let way = (hour - this.shownHour + 36) % 24 - 12;
        way = Math.max(-most, Math.min(most, way));
        this.shownHour = (this.shownHour + way + 24) % 24;
        const angle = (this.shownHour - 6) / 12 * Math.PI;
        this.sunWay.set(Math.cos(angle) * 0.9, Math.sin(angle), -0.42).normalize();
        const { daylight, shown } = this;
        const isDay = this.sunWay.y >= 0;
        daylight.direction.copy(this.sunWay);
        if (!isDay) {
            daylight.direction.set(-this.sunWay.x, -this.sunWay.y, this.sunWay.z);
        }
        readColour(this.top, shown, 0);
        readColour(this.horizon, shown, 3);
        readColour(daylight.sun, shown, 6);
        // One that is just above the horizon shines along the ground: it is faded, and with it the jump
        // from the sun to the moon.
        daylight.sunStrength = (shown[9] ?? 0) * Math.min(Math.abs(this.sunWay.y) * 5, 1);
        daylight.above.copy(this.top).lerp(this.horizon, 0.7);
        const brightest = Math.max(daylight.above.r, daylight.above.g, daylight.above.b, 0.05);
        daylight.above.multiplyScalar(1 / brightest).lerp(WHITE, 0.35);
        daylight.below.setRGB(0.28, 0.24, 0.17);
        daylight.skyStrength = shown[10] ?? 0;
        const { uniforms } = this.dome.material;
        uniforms.night!.value = Math.max(0, Math.min(1, -this.sunWay.y * 3));
        uniforms.clear!.value = 1 - this.wet;
    }

    private spread(far: number, seconds: number): void {
        const goal = far * (1 - this.wet * 0.35);
        this.fog.far = this.isNew ? goal : approach(this.fog.far, goal,
            Math.max(this.fog.far, 20) * FOG_CHANGE * seconds);
        this.fog.near = this.fog.far * FOG_FROM;
        this.fog.color.copy(this.horizon);
    }

    private fallDown(seconds: number): void {
        const isSnow = this.falls === 2;
        this.drops.visible = this.wet > 0.02;
        this.drops.geometry.instanceCount = Math.round(DROPS * this.wet * this.particles);
        const { uniforms } = this.drops.material;
        const light = 0.25 + 0.75 * this.level();
        uniforms.time!.value = ((uniforms.time!.value as number) + seconds) % 1000;
        uniforms.fall!.value = isSnow ? 1.6 : 13;
        uniforms.sway!.value = isSnow ? 0.5 : 0;
        (uniforms.size!.value as THREE.Vector2).set(isSnow ? 0.045 : 0.012, isSnow ? 0.045 : 0.34);
        (uniforms.colour!.value as THREE.Vector4).set(0.78 * light, 0.84 * light, 0.95 * light,
            isSnow ? 0.95 : 0.5);
    }
}
