// Sounds that every place has, made by calculation: a tone that glides, and noise, both fading away.
// They are short and soft; a place's own file of the same name is played instead.

interface Recipe {
    seconds: number;
    tone: number; // Hz at the beginning; 0: none
    toneEnd: number;
    noise: number; // its part, 0 to 1
    dark: number; // Hz above which the noise is dull
    level: number;
}

const RECIPES = {
    step: { seconds: 0.09, tone: 90, toneEnd: 60, noise: 0.8, dark: 900, level: 0.5 },
    jump: { seconds: 0.16, tone: 220, toneEnd: 420, noise: 0.15, dark: 1500, level: 0.4 },
    land: { seconds: 0.18, tone: 110, toneEnd: 45, noise: 0.7, dark: 600, level: 0.7 },
    hit: { seconds: 0.14, tone: 180, toneEnd: 80, noise: 0.7, dark: 2500, level: 0.8 },
    shot: { seconds: 0.28, tone: 320, toneEnd: 70, noise: 0.9, dark: 4000, level: 0.7 },
    click: { seconds: 0.04, tone: 1400, toneEnd: 1000, noise: 0.1, dark: 6000, level: 0.4 },
    place: { seconds: 0.15, tone: 260, toneEnd: 160, noise: 0.4, dark: 1800, level: 0.7 },
    dig: { seconds: 0.2, tone: 70, toneEnd: 50, noise: 1, dark: 1300, level: 0.7 },
} satisfies Record<string, Recipe>;

export type MadeSound = keyof typeof RECIPES;

export const MADE_SOUNDS = Object.keys(RECIPES) as MadeSound[];

export const isMade = (name: string): name is MadeSound =>
    (MADE_SOUNDS as readonly string[]).includes(name);

// Always the same samples for the same name and rate.
export function makeSound(name: MadeSound, rate: number): Float32Array<ArrayBuffer> {
    const { seconds, tone, toneEnd, noise, dark, level } = RECIPES[name];
    const samples = new Float32Array(Math.ceil(seconds * rate));
    const pass = 1 - Math.exp(-2 * Math.PI * dark / rate);
    let random = 1;
    let dull = 0;
    let phase = 0;
    for (let i = 0; i < samples.length; i++) {
        const part = i / samples.length;
        random = Math.imul(random, 1664525) + 1013904223 | 0;
        dull += (random / 0x80000000 - dull) * pass;
        phase += 2 * Math.PI * (tone + (toneEnd - tone) * part) / rate;
        const begins = Math.min(1, i / (0.002 * rate)); // without a crack
        samples[i] = level * begins * Math.exp(-5 * part) * (1 - part) *
            ((1 - noise) * Math.sin(phase) + noise * dull * 2);
    }
    return samples;
}
