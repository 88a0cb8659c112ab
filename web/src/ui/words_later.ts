// The sentences of what is fetched after the first picture: the settings, the longer part of the overlay,
// and sounds. Another language has these members too (languages.ts).
import { laterWordsOf } from './languages.ts';

const counted = (count: number, what: string): string =>
    `${count} ${what}${count === 1 ? '' : 's'}`;

const english = {
    thisComputer: 'This address works on this computer only. For friends on others, open the page by the ' +
        'server’s address in the network. If there is none yet, whoever runs the server makes one: ' +
        'sandlot up --new-secret-key, once, and then sandlot up --host 0.0.0.0.',
    people: {
        kick: 'Remove',
        kickLabel: (name: string) => `Remove ${name} from the world`,
        kickTitle: (name: string) => `Remove ${name} from this world?`,
        kickReason: (name: string) => `Why? ${name} reads this. It can be left empty.`,
        kickNote: (name: string) => `${name} can come in again later.`,
        kickDone: (name: string) => `${name} was removed from the world.`,
    },
    missing: {
        none: 'This browser gives the page all that it asks for.',
        text: (names: string) => `Missing here: ${names}. `
            + 'Browsers allow that only over https. The game works without it.',
        names: {
            crypto: 'the browser’s own cryptography (the page brings its own)',
            files: 'keeping the page’s files for later',
            clipboard: 'copying',
            gamepads: 'gamepads',
        },
    },
    build: {
        tools: 'Tools',
        choices: 'What to use',
        toolNames: { build: 'Build', remove: 'Remove', dig: 'Dig', fill: 'Fill' },
        turn: 'Turn',
        close: 'Done',
        keys: (key: string) => 'Click places · right click or X removes · 1–9 choose · the wheel ' +
            `turns · [ ] size · ${key} frees the mouse for these buttons`,
        cells: ([x, y, z]: readonly number[]) => `${x} × ${y} × ${z}`,
        health: (health: number) => `strength ${health}`,
        groundOnly: 'only on the ground',
        edge: (edge: number) => `${edge} × ${edge} × ${edge}`,
        nothing: 'Look at the ground or at a wall within reach.',
        noTarget: 'Look at something that was built.',
        place: (name: string) => `Here: ${name}`,
        dig: (count: number) => count === 1 ? 'Dig this block' : `Dig these ${count} blocks`,
        fill: (name: string, count: number) =>
            count === 1 ? `Fill with ${name}` : `Fill ${count} blocks with ${name}`,
        remove: (name: string) => `Remove your ${name}`,
        notOwn: (name: string) => `This ${name} is somebody else's.`,
        reasons: {
            forbidden: 'Nothing can be built in this place.',
            far: 'That is out of reach; go nearer.',
            blocked: 'Something is in the way; build beside it.',
            unsupported: 'Nothing would hold it up; build it on the ground or on another piece.',
            full: 'There are as many pieces as there may be; take one down first.',
            outside: 'That is outside the place.',
            dead: 'Only the living can do that.',
            noChange: 'Nothing would change here.',
        },
    },
    model: {
        modelFailed: (why: string) => `the model cannot be read (${why}). Export it again as ` +
            '.glb, with PNG or JPEG pictures and without compression.',
        emptyModel: 'there is nothing to draw in it. Export it again, with its meshes.',
        oddModel: 'its corners are at impossible places. Apply all transforms and export it again.',
        manyTriangles: (count: number, most: number) => `it has ${count} triangles, at most ` +
            `${most} are drawn. Simplify it and export it again.`,
        manyMeshes: (count: number, most: number) => `it consists of ${count} meshes, at most ` +
            `${most} are drawn. Join meshes that have the same material.`,
        manyPictures: (most: number) => `it has more than ${most} pictures. Join them.`,
    },
    noWorld: {
        title: (code: string) => `There is no world ${code}`,
        text: 'The code may be mistyped, or nobody needs that world any more and it has ended.',
        code: 'Room code',
        join: 'Join',
    },
    overlay: {
        rows: {
            'connection': 'connection',
            'server tick': 'server tick',
            'round trip': 'round trip',
            'jitter': 'jitter',
            'input sequence': 'input sequence',
            'pending inputs': 'pending inputs',
            'corrections': 'corrections',
            'interpolation': 'interpolation',
            'snapshots': 'snapshots',
            'in sight': 'in sight',
            'scripts': 'scripts',
            'bytes down': 'bytes down',
            'bytes up': 'bytes up',
            'pictures': 'pictures',
        },
        phases: {
            'starting': 'starting', 'signing-in': 'signing in', 'joining': 'joining', 'connecting': 'connecting', 'fetching': 'fetching',
            'playing': 'playing', 'waiting': 'waiting', 'closed': 'closed',
        },
        reconnected: (phase: string, times: number) => `${phase}, ${times}× reconnected`,
        pending: (count: number, ticks: string) => `${count}, ${ticks} ticks ahead`,
        corrections: (count: number, cm: string) => `${count}, last ${cm} cm`,
        behind: (ms: string) => `${ms} ms behind`,
        snapshots: (rate: string, count: number, ms: string) => `${rate}/s · ${count} in all, p99 ${ms} ms apart`,
        noScripts: 'none yet',
        scriptsHere: (have: number, all: number) => `${have} of ${all} here`,
        manifest: (scripts: number, version: number, isProven: boolean) =>
            `${scripts}, manifest ${version}${isProven ? ', verified' : ''}`,
        rate: (rate: string, all: string) => `${rate}/s · ${all} in all`,
        fps: (rate: string) => `${rate} a second`,
        graph: (count: number, median: number, worst: number) => `The last ${count} pictures: ` +
            `half took less than ${median.toFixed(0)} ms, the longest ${worst.toFixed(0)} ms`,
        downloads: 'Downloads',
        downloadHead: ['', 'here', 'of'],
        scene: 'world',
        scripts: 'scripts',
        files: 'number of scripts',
        wire: 'over HTTP',
        requests: (count: number) => `${count} requests`,
        cache: 'kept here',
        found: (count: number) => `${count} found`,
        own: 'Scripts here: none',
        ownOf: (count: number, faults: number) => `Scripts here: ${count}, faults: ${faults}`,
        server: (count: number) => `Scripts of the server: ${count}`,
        costHead: ['script', 'calls', 'ms', 'memory', 'faults'],
        faults: (count: number) => `Faults of the server: ${count}`,
        faultHead: ['where', 'what'],
    },
    check: {
        failed: (why: string) => `The scripts could not be checked: ${why}`,
        counts: (scripts: number, errors: number, warnings: number) => `${counted(scripts, 'script')} checked: ` +
            `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`,
    },
    settings: {
        title: 'Settings',
        textSize: 'Size of texts',
        sensitivity: 'How fast the view turns',
        invert: 'Swap up and down when looking',
        toggleRun: 'Run: press once instead of holding',
        toggleCrouch: 'Crouch: press once instead of holding',
        touch: 'Touch controls',
        touchLayouts: {
            'right-handed': 'Walk left, look right',
            'left-handed': 'Walk right, look left',
            'one-right': 'One hand, at the right',
            'one-left': 'One hand, at the left',
        },
        padsWithheld: 'This browser does not let this page read gamepads.',
        padsNeedHttps: 'This browser lets pages read gamepads only over https.',
        camera: 'Camera',
        first: 'First person',
        third: 'From behind the body',
        graphics: 'Picture',
        quality: { auto: 'Automatic', low: 'Fast', medium: 'Balanced', high: 'Fine' },
        language: 'Language',
        teamNames: 'Teams in words beside names',
        theme: 'Colours of menus',
        themes: { system: 'Same as the device', light: 'Light', dark: 'Dark' },
        keys: 'Keys',
        keyPress: 'Press a key …',
        actions: 'Keys of this place',
        keysReset: 'Reset all keys',
        reset: 'Reset all settings',
    },
    sound: {
        title: 'Sound',
        volume: 'Volume',
        musicVolume: 'Music',
        effectsVolume: 'Effects',
        ownSounds: 'Sounds of steps and hits',
        captionsOn: 'Captions: sounds as text',
        tooLong: (seconds: number, most: number) =>
            `it lasts ${seconds} seconds; the page plays sounds of at most ${most}.`,
        tooLarge: (channels: number, seconds: number) =>
            `${seconds} seconds with ${channels} channels need too much memory. Save it with two channels.`,
        undecodable: (why: string) => `this browser cannot play it (${why}). OGG with Vorbis and ` +
            'WAV are played almost everywhere.',
    },
};

export type LaterWords = typeof english;

export const laterWords = laterWordsOf(english);
