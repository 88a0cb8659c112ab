// How finely the world is drawn. A player chooses a level or leaves it to the frame time (`auto`). Nothing
// here touches the screen, so that it is tested without one.
export const QUALITIES = ['auto', 'low', 'medium', 'high'] as const;
export type QualityChoice = typeof QUALITIES[number];
export type Level = 0 | 1 | 2;

export interface Quality {
    pixelRatio: number; // at most
    shadowPixels: number; // side of the shadow map; 0: no shadows
    distance: number; // share of the place's sight that is drawn
    particles: number; // share of the particles that effects ask for
    labels: number; // names and marks at once, the nearest
}

const LEVELS: readonly [Quality, Quality, Quality] = [
    { pixelRatio: 0.75, shadowPixels: 0, distance: 0.6, particles: 0.25, labels: 24 },
    { pixelRatio: 1, shadowPixels: 1024, distance: 0.8, particles: 0.6, labels: 48 },
    { pixelRatio: 2, shadowPixels: 2048, distance: 1, particles: 1, labels: 96 },
];

export const qualityOf = (level: Level): Quality => LEVELS[level];

const SLOW_MS = 25; // fewer than 40 frames a second: too much is asked of this device
const GOOD_MS = 18; // 60 frames a second, nearly
const WINDOW_FRAMES = 45;
const WINDOW_MS = 2500; // or so long, where frames are slow
const PAUSE_MS = 1000; // a longer frame is a tab that slept, not a slow one
const SLOW_WINDOWS = 2; // in a row, before the level falls
const GOOD_WINDOWS_FIRST = 8; // before it rises
const GOOD_WINDOWS_MAX = 256;

// Falling is quick, rising slow. A level that proved too much is tried again after twice as long as the
// time before, so that the picture does not change to and fro.
export class AdaptiveQuality {
    level: Level = 1;
    private frames = 0;
    private totalMs = 0;
    private slow = 0;
    private good = 0;
    private wanted = GOOD_WINDOWS_FIRST; // good windows before it rises
    private rose = false; // the last change was up

    // Takes the time of a frame. Returns whether the level has changed.
    add(frameMs: number): boolean {
        if (!(frameMs > 0) || frameMs > PAUSE_MS) {
            return false;
        }
        this.frames += 1;
        this.totalMs += frameMs;
        if (this.frames < WINDOW_FRAMES && this.totalMs < WINDOW_MS) {
            return false;
        }
        const meanMs = this.totalMs / this.frames;
        this.frames = 0;
        this.totalMs = 0;
        this.slow = meanMs > SLOW_MS ? this.slow + 1 : 0;
        this.good = meanMs < GOOD_MS ? this.good + 1 : 0;
        return this.judge();
    }

    private judge(): boolean {
        if (this.slow >= SLOW_WINDOWS && this.level > 0) {
            if (this.rose) {
                this.wanted = Math.min(this.wanted * 2, GOOD_WINDOWS_MAX);
            }
            return this.turn(-1);
        }
        return this.good >= this.wanted && this.level < 2 && this.turn(1);
    }

    private turn(by: 1 | -1): boolean {
        this.level = this.level + by as Level;
        this.rose = by > 0;
        this.slow = 0;
        this.good = 0;
        return true;
    }
}

// The level that a choice means now.
export function levelOf(choice: QualityChoice, adaptive: AdaptiveQuality): Level {
    return choice === 'auto' ? adaptive.level : QUALITIES.indexOf(choice) - 1 as Level;
}
