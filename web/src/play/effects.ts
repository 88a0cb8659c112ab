// What scripts add to the picture: particles, beams, trails and lights. Particles are all drawn at once
// and move on the graphics card: here a particle is written when it begins and never touched again. Beams
// and trails are one set of segments. Of all lights the nearest are drawn. Every number is bounded, and
// nothing is allocated for a picture.
import * as THREE from 'three';

import type { FlashGuard } from './flash.ts';

export const VISUAL_ROW = 9; // doubles in a row of clientVisuals
export const PARTICLES_MAX = 2048;
export const LIGHTS_MAX = 8; // one of them is for explosions
const BEAMS_MAX = 64;
const TRAILS_MAX = 32;
const TRAIL_POINTS = 16;
const SEGMENTS_MAX = BEAMS_MAX + TRAILS_MAX * TRAIL_POINTS;
const SEEN_M = 80; // emitters further away emit nothing
const LIGHT_SEEN_M = 60;
const CANDELA = 10; // of a light whose brightness is 1
const DECAY = 1; // less than in nature: a light is seen as far as its range says
const FEW_LIGHTS = 3; // and the one for explosions: what most places need
const DARK_S = 5; // without any light, before lights are no longer drawn
const WIDE_M = 0.3; // a wider beam is a flash
const STRIDE = 16; // floats of a particle or segment
const EMITTER = 0;
const LIGHT = 1;
const TRAIL = 2;

interface Kind {
    count: number; // in a burst
    rate: number; // in a second, of an emitter
    life: number; // seconds; never so short that bursts one after the other would flicker
    speed: number;
    rise: number; // speed upwards
    weight: number; // m/s² downwards
    spread: number; // m
    size: [number, number]; // in the beginning and at the end, m
    colours: [number, number, number?];
    glow: number; // 1: adds light, 0: covers, -1: covers and is square
    alpha: number;
}

// By the numbers of EffectName in core/script/api.def.
export const EFFECTS = ['sparkle', 'smoke', 'fire', 'explosion', 'dust', 'splash', 'confetti', 'heal',
    'magic', 'snow'] as const;
const KINDS: readonly Kind[] = [
    { count: 24, rate: 14, life: 0.9, speed: 2.2, rise: 0.8, weight: 2, spread: 0.2, size: [0.09, 0.02],
        colours: [0xfff2b0, 0xffd35a], glow: 1, alpha: 0.9 },
    { count: 14, rate: 9, life: 2.2, speed: 0.5, rise: 1.1, weight: -0.3, spread: 0.25, size: [0.3, 1.1],
        colours: [0x8d8f94, 0x63666c], glow: 0, alpha: 0.45 },
    { count: 22, rate: 26, life: 0.9, speed: 0.5, rise: 1.7, weight: -1, spread: 0.22, size: [0.42, 0.08],
        colours: [0xff9a2e, 0xf2541b, 0xffc04a], glow: 0.45, alpha: 0.6 },
    { count: 60, rate: 20, life: 1.1, speed: 5.5, rise: 2, weight: 3, spread: 0.3, size: [0.75, 0.2],
        colours: [0xffc14d, 0xff5a1f, 0x5c5650], glow: 0.7, alpha: 0.85 },
    { count: 16, rate: 10, life: 1.3, speed: 1.1, rise: 0.5, weight: 0.4, spread: 0.3, size: [0.2, 0.7],
        colours: [0xc9b48a, 0xa8946c], glow: 0, alpha: 0.4 },
    { count: 30, rate: 20, life: 0.9, speed: 2.2, rise: 3.4, weight: 9.8, spread: 0.15, size: [0.12, 0.05],
        colours: [0xbfe4f7, 0x7fc2e8], glow: 0.2, alpha: 0.85 },
    { count: 50, rate: 20, life: 2.4, speed: 2.4, rise: 4.2, weight: 4, spread: 0.2, size: [0.09, 0.09],
        colours: [0xf25c78, 0x4fb3f2, 0xf2cf4f], glow: -1, alpha: 1 },
    { count: 22, rate: 12, life: 1.4, speed: 0.6, rise: 1.3, weight: 0, spread: 0.55, size: [0.16, 0.05],
        colours: [0x8df5a4, 0x45d873], glow: 0.6, alpha: 0.9 },
    { count: 30, rate: 18, life: 1.3, speed: 1.3, rise: 0.4, weight: -0.4, spread: 0.5, size: [0.16, 0.03],
        colours: [0xb58cff, 0x6ad0ff, 0xff8ce0], glow: 1, alpha: 0.85 },
    { count: 30, rate: 16, life: 2.6, speed: 0.8, rise: 0, weight: 0.7, spread: 1.2, size: [0.07, 0.06],
        colours: [0xffffff, 0xe4f0ff], glow: 0, alpha: 0.9 },
];
const EXPLOSION = EFFECTS.indexOf('explosion');

const PARTICLE_VERTEX = `
    uniform float time, light;
    uniform vec2 fog;
    attribute vec4 start, motion, paint, look; // place+birth, velocity+life, colour+glow, sizes+weight+alpha
    varying vec2 at;
    varying vec4 tint;
    varying float glow;
    void main() {
        float age = time - start.w;
        float part = age / motion.w;
        at = position.xy;
        glow = paint.w;
        if (part < 0.0 || part >= 1.0) {
            gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
            return;
        }
        float slow = (1.0 - exp(-1.6 * age)) / 1.6; // the air
        vec3 world = start.xyz + motion.xyz * slow - vec3(0.0, 0.5 * look.z * age * age, 0.0);
        vec4 seen = viewMatrix * vec4(world, 1.0);
        float turn = glow < 0.0 ? start.w * 90.0 + age * 5.0 : 0.0;
        vec2 corner = mat2(cos(turn), sin(turn), -sin(turn), cos(turn)) * position.xy;
        seen.xy += corner * mix(look.x, look.y, part);
        float clear = 1.0 - smoothstep(fog.x, fog.y, -seen.z);
        float show = smoothstep(0.0, 0.12, part) * (1.0 - smoothstep(0.45, 1.0, part));
        tint = vec4(paint.rgb * mix(light, 1.0, clamp(glow, 0.0, 1.0)), look.w * show * clear);
        gl_Position = projectionMatrix * seen;
    }`;

const PARTICLE_FRAGMENT = `
    varying vec2 at;
    varying vec4 tint;
    varying float glow;
    void main() {
        float soft = glow < 0.0 ? 1.0 : 1.0 - smoothstep(0.25, 1.0, length(at));
        float alpha = tint.a * soft;
        gl_FragColor = vec4(tint.rgb, 1.0);
        #include <colorspace_fragment>
        gl_FragColor = vec4(gl_FragColor.rgb * alpha, alpha * (1.0 - max(glow, 0.0)));
    }`;

const SEGMENT_VERTEX = `
    uniform vec2 fog;
    attribute vec4 start, end, paint, look; // place+width, place+width, colour, opacities
    varying vec4 tint;
    varying float across;
    void main() {
        vec3 here = mix(start.xyz, end.xyz, position.x);
        vec3 side = cross(end.xyz - start.xyz, cameraPosition - here);
        side /= max(length(side), 1e-5);
        across = position.y;
        vec4 seen = viewMatrix * vec4(here + side * position.y * 0.5 * mix(start.w, end.w, position.x), 1.0);
        tint = vec4(paint.rgb, mix(look.x, look.y, position.x) * (1.0 - smoothstep(fog.x, fog.y, -seen.z)));
        gl_Position = projectionMatrix * seen;
    }`;

const SEGMENT_FRAGMENT = `
    varying vec4 tint;
    varying float across;
    void main() {
        float alpha = tint.a * (1.0 - across * across);
        gl_FragColor = vec4(tint.rgb, 1.0);
        #include <colorspace_fragment>
        gl_FragColor = vec4(gl_FragColor.rgb * alpha, alpha * 0.35);
    }`;

interface Set {
    mesh: THREE.Mesh<THREE.InstancedBufferGeometry, THREE.ShaderMaterial>;
    buffer: THREE.InstancedInterleavedBuffer;
    rows: Float32Array;
}

// Quads of one draw call; each has four vectors of its own by these names.
function makeSet(most: number, corners: number[], names: readonly string[], vertexShader: string,
    fragmentShader: string, uniforms: Record<string, THREE.IUniform>): Set {
    const rows = new Float32Array(most * STRIDE);
    const buffer = new THREE.InstancedInterleavedBuffer(rows, STRIDE);
    buffer.setUsage(THREE.DynamicDrawUsage);
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(corners, 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    names.forEach((name, i) =>
        geometry.setAttribute(name, new THREE.InterleavedBufferAttribute(buffer, 4, i * 4)));
    geometry.instanceCount = 0;
    const mesh = new THREE.Mesh(geometry, new THREE.ShaderMaterial({
        vertexShader, fragmentShader, uniforms, transparent: true, depthWrite: false,
        side: THREE.DoubleSide, blending: THREE.CustomBlending, blendSrc: THREE.OneFactor,
        blendDst: THREE.OneMinusSrcAlphaFactor, premultipliedAlpha: true,
    }));
    mesh.frustumCulled = false;
    mesh.renderOrder = 4;
    mesh.visible = false;
    return { mesh, buffer, rows };
}

interface Trail {
    id: number; // 0: free
    colour: number;
    width: number;
    seconds: number;
    count: number;
    points: Float32Array; // x, y, z, time; the newest first
}

interface Lamp {
    id: number; // 0: free
    shown: number; // how bright it is
    light: THREE.PointLight;
}

export interface EffectCounts {
    particles: number;
    dropped: number; // for which there was no room
    beams: number;
    trails: number;
    lights: number;
    flashes: number;
    flashesHeld: number;
}

const colour = new THREE.Color();
const near = new THREE.Vector3();

export class EffectsView {
    readonly group = new THREE.Group();
    share = 1; // of the particles that are asked for: less where the device is slow
    private readonly guard: FlashGuard;
    private now: number; // seconds, by the clock of the guard
    private readonly fog = new THREE.Vector2(60, 140);
    private readonly uniforms = {
        time: { value: 0 }, light: { value: 1 }, fog: { value: this.fog },
    };
    private readonly particles = makeSet(PARTICLES_MAX, [-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0],
        ['start', 'motion', 'paint', 'look'], PARTICLE_VERTEX, PARTICLE_FRAGMENT, this.uniforms);
    private readonly segments = makeSet(SEGMENTS_MAX, [0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0],
        ['start', 'end', 'paint', 'look'], SEGMENT_VERTEX, SEGMENT_FRAGMENT, this.uniforms);
    private next = 0; // the particle that is written next
    private used = 0; // above the highest that lives
    private lastEnd = 0;
    private writtenFrom = PARTICLES_MAX;
    private writtenTo = 0;
    private dropped = 0;
    private segmentCount = 0;
    private readonly beams = new Float32Array(BEAMS_MAX * 12); // from, to, colour, width, end, seconds, alpha
    private readonly trails: Trail[] = Array.from({ length: TRAILS_MAX }, () => ({
        id: 0, colour: 0, width: 0, seconds: 0, count: 0, points: new Float32Array(TRAIL_POINTS * 4),
    }));
    private readonly lamps: Lamp[] = Array.from({ length: LIGHTS_MAX }, () => ({
        id: 0, shown: 0, light: new THREE.PointLight(0xffffff, 0, 8, DECAY),
    }));
    private readonly nearest = new Int32Array(LIGHTS_MAX - 1); // rows of lights
    private readonly distances = new Float32Array(LIGHTS_MAX - 1);
    private lightCount = 0;
    private boomLeft = 0;
    private lit = 0; // 0 no lights are drawn, 1 a few, 2 all
    private litUntil = 0;

    constructor(guard: FlashGuard, now: number) {
        this.guard = guard;
        this.now = now;
        this.group.add(this.particles.mesh, this.segments.mesh, ...this.lamps.map(({ light }) => light));
        this.lamps.forEach(({ light }) => { light.visible = false; });
    }

    reset(): void {
        this.lastEnd = this.now;
        this.beams.fill(0);
        this.trails.forEach((trail) => { trail.id = 0; });
        this.lamps.forEach((lamp) => { lamp.id = 0; lamp.shown = 0; });
    }

    // A colour is 1 + red, green, blue; 0: the effect's own.
    burst(effect: number, x: number, y: number, z: number, paint: number, size: number): void {
        const kind = KINDS[effect];
        if (kind === undefined) {
            return;
        }
        const count = Math.max(1, Math.round(kind.count * this.share));
        for (let i = 0; i < count; i++) {
            this.emit(kind, x, y, z, paint, size, i);
        }
        const boom = this.lamps[LIGHTS_MAX - 1];
        if (effect === EXPLOSION && boom !== undefined && this.guard.allow(this.now)) {
            boom.light.position.set(x, y + 0.5, z);
            boom.light.color.set(paint > 0 ? paint - 1 : 0xffb060);
            boom.light.distance = 14 * Math.sqrt(size);
            this.boomLeft = 1;
        }
    }

    beam(from: ArrayLike<number>, to: ArrayLike<number>, paint: number, width: number,
        seconds: number): void {
        for (let at = 0; at < this.beams.length; at += 12) {
            if ((this.beams[at + 9] ?? 0) <= this.now) {
                const isWide = width >= WIDE_M;
                const mayFlash = !isWide || this.guard.allow(this.now);
                this.beams.set([from[0] ?? 0, from[1] ?? 0, from[2] ?? 0, to[0] ?? 0, to[1] ?? 0,
                    to[2] ?? 0, paint > 0 ? paint - 1 : 0xffffff, mayFlash ? width : WIDE_M * 0.5, seconds,
                    this.now + seconds, mayFlash ? 1 : 0.25, 0], at);
                return;
            }
        }
        this.dropped += 1;
    }

    // Rows of clientVisuals; `light` is how bright the day is.
    update(rows: Float64Array, eye: THREE.Vector3, fog: THREE.Fog, light: number, seconds: number): void {
        const before = this.now;
        this.now += seconds;
        this.uniforms.time.value = this.now;
        this.uniforms.light.value = 0.2 + 0.8 * light;
        this.fog.set(fog.near, fog.far);
        this.lightCount = 0;
        for (let at = 0; at + VISUAL_ROW <= rows.length; at += VISUAL_ROW) {
            const kind = rows[at + 1];
            if (kind === EMITTER) {
                this.emitFrom(rows, at, eye, before);
            } else if (kind === LIGHT) {
                this.considerLight(rows, at, eye);
            } else if (kind === TRAIL) {
                this.follow(rows, at);
            }
        }
        this.shine(rows, eye, seconds);
        this.drawSegments();
        this.upload();
    }

    counts(): EffectCounts {
        let particles = 0;
        for (let i = 0; i < this.used; i++) {
            particles += Number(this.endOf(i) > this.now);
        }
        let beams = 0;
        for (let at = 9; at < this.beams.length; at += 12) {
            beams += Number((this.beams[at] ?? 0) > this.now);
        }
        return {
            particles, dropped: this.dropped, beams,
            trails: this.trails.filter(({ id }) => id !== 0).length,
            lights: this.lamps.filter((lamp) => lamp.light.intensity > 0).length,
            flashes: this.guard.flashes, flashesHeld: this.guard.held,
        };
    }

    // --- particles ---

    private endOf(particle: number): number {
        const { rows } = this.particles;
        return (rows[particle * STRIDE + 3] ?? 0) + (rows[particle * STRIDE + 7] ?? 0);
    }

    private emit(kind: Kind, x: number, y: number, z: number, paint: number, size: number,
        number: number): void {
        const particle = this.next;
        if (particle < this.used && this.endOf(particle) > this.now) {
            this.dropped += 1;
            return;
        }
        this.next = (particle + 1) % PARTICLES_MAX;
        this.used = Math.max(this.used, particle + 1);
        this.writtenFrom = Math.min(this.writtenFrom, particle);
        this.writtenTo = Math.max(this.writtenTo, particle + 1);
        const scale = Math.sqrt(size);
        const life = kind.life * (0.75 + Math.random() * 0.5);
        const angle = Math.random() * Math.PI * 2;
        const up = Math.random() * 2 - 1;
        const flat = Math.sqrt(1 - up * up);
        const speed = kind.speed * scale * (0.4 + Math.random() * 0.6);
        const spread = kind.spread * size * Math.random();
        const own = kind.colours[number % kind.colours.length] ?? kind.colours[0];
        colour.set(paint > 0 ? paint - 1 : own);
        const { rows } = this.particles;
        const at = particle * STRIDE;
        rows[at] = x + Math.cos(angle) * flat * spread;
        rows[at + 1] = y + up * spread;
        rows[at + 2] = z + Math.sin(angle) * flat * spread;
        rows[at + 3] = this.now;
        rows[at + 4] = Math.cos(angle) * flat * speed;
        rows[at + 5] = up * speed + kind.rise * scale;
        rows[at + 6] = Math.sin(angle) * flat * speed;
        rows[at + 7] = life;
        rows[at + 8] = colour.r;
        rows[at + 9] = colour.g;
        rows[at + 10] = colour.b;
        rows[at + 11] = kind.glow;
        rows[at + 12] = kind.size[0] * size;
        rows[at + 13] = kind.size[1] * size;
        rows[at + 14] = kind.weight;
        rows[at + 15] = kind.alpha;
        this.lastEnd = Math.max(this.lastEnd, this.now + life);
    }

    // How many are due follows from the time, so that an emitter needs no memory.
    private emitFrom(rows: Float64Array, at: number, eye: THREE.Vector3, before: number): void {
        const kind = KINDS[rows[at + 2] ?? 0];
        const x = rows[at + 6] ?? 0;
        const y = rows[at + 7] ?? 0;
        const z = rows[at + 8] ?? 0;
        if (kind === undefined || eye.distanceToSquared(near.set(x, y, z)) > SEEN_M * SEEN_M) {
            return;
        }
        const perSecond = kind.rate * (rows[at + 5] ?? 1) * this.share;
        const phase = (rows[at] ?? 0) * 0.618;
        const due = Math.floor(this.now * perSecond + phase) - Math.floor(before * perSecond + phase);
        for (let i = 0; i < Math.min(due, 32); i++) {
            this.emit(kind, x, y, z, rows[at + 3] ?? 0, rows[at + 4] ?? 1,
                i + Math.floor(this.now * perSecond));
        }
    }

    private upload(): void {
        const { mesh, buffer } = this.particles;
        if (this.lastEnd <= this.now) {
            this.next = 0;
            this.used = 0;
        }
        mesh.visible = this.used > 0;
        mesh.geometry.instanceCount = this.used;
        if (this.writtenTo > this.writtenFrom) {
            buffer.clearUpdateRanges();
            buffer.addUpdateRange(this.writtenFrom * STRIDE, (this.writtenTo - this.writtenFrom) * STRIDE);
            buffer.needsUpdate = true;
            this.writtenFrom = PARTICLES_MAX;
            this.writtenTo = 0;
        }
    }

    // --- lights ---

    private considerLight(rows: Float64Array, at: number, eye: THREE.Vector3): void {
        const { nearest, distances } = this;
        const away = eye.distanceTo(near.set(rows[at + 6] ?? 0, rows[at + 7] ?? 0, rows[at + 8] ?? 0));
        if (away > LIGHT_SEEN_M) {
            return;
        }
        let place = Math.min(this.lightCount, nearest.length - 1);
        if (this.lightCount === nearest.length && away >= (distances[place] ?? 0)) {
            return;
        }
        for (; place > 0 && (distances[place - 1] ?? 0) > away; place--) {
            distances[place] = distances[place - 1] ?? 0;
            nearest[place] = nearest[place - 1] ?? 0;
        }
        distances[place] = away;
        nearest[place] = at;
        this.lightCount = Math.min(this.lightCount + 1, nearest.length);
    }

    private lampOf(id: number): Lamp | undefined {
        let free: Lamp | undefined;
        for (let i = 0; i < LIGHTS_MAX - 1; i++) {
            const lamp = this.lamps[i];
            if (lamp?.id === id) {
                return lamp;
            }
            free ??= lamp?.id === 0 ? lamp : undefined;
        }
        return free;
    }

    private isNearest(rows: Float64Array, id: number): boolean {
        for (let i = 0; i < this.lightCount; i++) {
            if (rows[this.nearest[i] ?? 0] === id) {
                return true;
            }
        }
        return false;
    }

    private shine(rows: Float64Array, eye: THREE.Vector3, seconds: number): void {
        for (let i = 0; i < LIGHTS_MAX - 1; i++) {
            const lamp = this.lamps[i];
            if (lamp !== undefined && lamp.id !== 0 && !this.isNearest(rows, lamp.id)) {
                lamp.id = 0;
                lamp.shown = 0;
                lamp.light.intensity = 0;
            }
        }
        for (let i = 0; i < this.lightCount; i++) {
            const at = this.nearest[i] ?? 0;
            const lamp = this.lampOf(rows[at] ?? 0);
            if (lamp === undefined) {
                continue;
            }
            const { light } = lamp;
            const paint = rows[at + 3] ?? 0;
            lamp.id = rows[at] ?? 0;
            light.position.set(rows[at + 6] ?? 0, rows[at + 7] ?? 0, rows[at + 8] ?? 0);
            light.color.set(paint > 0 ? paint - 1 : 0xffffff);
            light.distance = rows[at + 5] ?? 8;
            // Far away it fades, so that one that becomes the eighth nearest does not appear at once.
            const fade = 1 - Math.min(eye.distanceTo(light.position) / LIGHT_SEEN_M, 1);
            const colourful = Math.max(light.color.r, light.color.g, light.color.b);
            const wanted = (rows[at + 4] ?? 1) * Math.min(fade * 2, 1);
            // A light that turns black and white is switched off and on.
            lamp.shown = this.guard.brightness(lamp.shown, wanted * colourful, this.now, seconds);
            light.intensity = colourful > 0 ? lamp.shown / colourful * CANDELA : 0;
        }
        this.boom(seconds);
        this.showLamps();
    }

    private boom(seconds: number): void {
        const lamp = this.lamps[LIGHTS_MAX - 1];
        this.boomLeft = Math.max(0, this.boomLeft - seconds * 2.2);
        if (lamp !== undefined) {
            lamp.light.intensity = this.boomLeft * this.boomLeft * 60;
        }
    }

    // Shaders are made for a number of lights: for none, a few or all, so that they are made three times
    // at most. The fewer there are, the cheaper is drawing.
    private showLamps(): void {
        const isLit = this.lightCount > 0 || this.boomLeft > 0;
        let wanted = isLit ? 1 : 0;
        for (let i = FEW_LIGHTS; i < LIGHTS_MAX - 1; i++) {
            wanted = this.lamps[i]?.id !== 0 ? 2 : wanted;
        }
        this.litUntil = wanted >= this.lit ? this.now + DARK_S : this.litUntil;
        if (wanted > this.lit || (wanted < this.lit && this.now > this.litUntil)) {
            this.lit = wanted;
            this.lamps.forEach(({ light }, i) => {
                light.visible = wanted === 2 || (wanted === 1 && (i < FEW_LIGHTS || i === LIGHTS_MAX - 1));
            });
        }
    }

    // --- beams and trails ---

    private follow(rows: Float64Array, at: number): void {
        const id = rows[at] ?? 0;
        let trail: Trail | undefined;
        for (const each of this.trails) {
            if (each.id === id) {
                trail = each;
                break;
            }
            trail ??= each.id === 0 ? each : undefined;
        }
        if (trail === undefined) {
            return;
        }
        if (trail.id !== id) {
            trail.id = id;
            trail.count = 0;
        }
        const paint = rows[at + 3] ?? 0;
        trail.colour = paint > 0 ? paint - 1 : 0xffffff;
        trail.width = rows[at + 4] ?? 0.3;
        trail.seconds = rows[at + 5] ?? 1;
        this.extend(trail, rows[at + 6] ?? 0, rows[at + 7] ?? 0, rows[at + 8] ?? 0);
    }

    // The newest point is where the entity is; a new one begins when the second newest is old enough.
    private extend(trail: Trail, x: number, y: number, z: number): void {
        const { points } = trail;
        const moved = Math.hypot(x - (points[0] ?? 0), y - (points[1] ?? 0), z - (points[2] ?? 0));
        if (moved > 10) { // it was put elsewhere
            trail.count = 0;
        }
        const step = trail.seconds / (TRAIL_POINTS - 2);
        if (trail.count < 2 || this.now - (points[7] ?? 0) >= step) {
            points.copyWithin(4, 0, (TRAIL_POINTS - 1) * 4);
            trail.count = Math.min(trail.count + 1, TRAIL_POINTS);
        }
        points[0] = x;
        points[1] = y;
        points[2] = z;
        points[3] = this.now;
    }

    private segment(ax: number, ay: number, az: number, bx: number, by: number, bz: number,
        widthA: number, widthB: number, paint: number, alphaA: number, alphaB: number): void {
        if (this.segmentCount === SEGMENTS_MAX) {
            return;
        }
        const { rows } = this.segments;
        const at = this.segmentCount * STRIDE;
        this.segmentCount += 1;
        colour.set(paint);
        rows[at] = ax;
        rows[at + 1] = ay;
        rows[at + 2] = az;
        rows[at + 3] = widthA;
        rows[at + 4] = bx;
        rows[at + 5] = by;
        rows[at + 6] = bz;
        rows[at + 7] = widthB;
        rows[at + 8] = colour.r;
        rows[at + 9] = colour.g;
        rows[at + 10] = colour.b;
        rows[at + 12] = alphaA;
        rows[at + 13] = alphaB;
    }

    private drawSegments(): void {
        this.segmentCount = 0;
        const { beams } = this;
        for (let at = 0; at < beams.length; at += 12) {
            const left = (beams[at + 9] ?? 0) - this.now;
            if (left > 0) {
                const alpha = Math.min(left / (beams[at + 8] || 1) * 1.5, 1) * (beams[at + 10] ?? 1);
                const width = beams[at + 7] ?? 0.1;
                this.segment(beams[at] ?? 0, beams[at + 1] ?? 0, beams[at + 2] ?? 0, beams[at + 3] ?? 0,
                    beams[at + 4] ?? 0, beams[at + 5] ?? 0, width, width, beams[at + 6] ?? 0, alpha, alpha);
            }
        }
        for (const trail of this.trails) {
            if (trail.id !== 0) {
                this.drawTrail(trail);
            }
        }
        const { mesh, buffer } = this.segments;
        mesh.visible = this.segmentCount > 0;
        mesh.geometry.instanceCount = this.segmentCount;
        if (this.segmentCount > 0) {
            buffer.clearUpdateRanges();
            buffer.addUpdateRange(0, this.segmentCount * STRIDE);
            buffer.needsUpdate = true;
        }
    }

    // How much of a point is left, 1 to 0.
    private left(trail: Trail, point: number): number {
        return Math.max(0, 1 - (this.now - (trail.points[point * 4 + 3] ?? 0)) / trail.seconds);
    }

    private drawTrail(trail: Trail): void {
        const { points, width } = trail;
        if (trail.count === 0 || this.left(trail, 0) === 0) {
            trail.id = 0; // its entity is gone, and the last of it has faded
            return;
        }
        for (let i = 0; i + 1 < trail.count && this.left(trail, i) > 0; i++) {
            const a = i * 4;
            const young = this.left(trail, i);
            const old = this.left(trail, i + 1);
            this.segment(points[a] ?? 0, points[a + 1] ?? 0, points[a + 2] ?? 0, points[a + 4] ?? 0,
                points[a + 5] ?? 0, points[a + 6] ?? 0, width * young, width * old, trail.colour,
                young * 0.8, old * 0.8);
        }
    }
}
