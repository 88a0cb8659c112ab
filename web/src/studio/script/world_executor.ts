// Runs one script without its place: a world in core.wasm with a floor, and an entity for each that the
// script is run on. Hooks are called by the world itself, by the rules of every world.
import type { Core, CoreWorld } from '../../core/bridge.ts';
import type { Lifecycle, ScriptCompilerParts } from './script_compiler.ts';

const PATH = 'Workspace/Script.lua';
const encoder = new TextEncoder();
const PLACE = encoder.encode(JSON.stringify({ format: 1, name: 'One script' }));

interface Entity {
    id: number;
    parameters: Record<string, unknown>;
    isEnabled: boolean;
}

class OneScript {
    readonly lua: string;
    private world: CoreWorld | null = null;
    private readonly entities = new Map<number, Entity>();
    private readonly core: Core;
    private ms = 0;

    constructor(core: Core, lua: string) {
        this.core = core;
        this.lua = lua;
    }

    private scene(): string {
        const floor = { id: 1_000_000, type: 'part', transform: { position: [0, -1, 0] }, shape: { size: [32, 1, 32] } };
        const spawn = { id: 1_000_001, type: 'spawn', transform: { position: [8, 1, 8] } };
        return JSON.stringify({
            format: 1,
            entities: [floor, spawn, ...[...this.entities.values()].map(({ id, parameters, isEnabled }) => ({
                id, type: 'part', transform: { position: [0, 1, 0] }, shape: { size: [1, 1, 1] }, scriptPath: PATH, parameters,
                enabled: isEnabled,
            }))],
        });
    }

    private remake(): void {
        this.world?.destroy();
        this.world = this.core.createWorld(new Map([
            ['place.json', PLACE], ['scene.json', encoder.encode(this.scene())], [PATH, encoder.encode(this.lua)],
        ]));
    }

    run(lifecycle: Lifecycle, id: number, parameters: Record<string, unknown>, seconds: number): { error?: string } {
        const entity = this.entities.get(id) ?? { id, parameters, isEnabled: true };
        if (lifecycle === 'onUpdate' && this.world !== null && this.entities.has(id)) {
            this.ms += seconds * 1000;
            this.world.tick(this.ms);
        } else {
            this.entities.set(id, { ...entity, parameters, isEnabled: lifecycle !== 'onDisable' });
            if (lifecycle === 'onDestroy') {
                this.entities.delete(id);
            }
            this.remake();
            this.world?.tick(this.ms);
        }
        const [fault] = this.world?.faults() ?? [];
        return fault === undefined ? {} : { error: fault.message };
    }

    end(): void {
        this.world?.destroy();
    }
}

export function makeWorldExecutor(core: Core): NonNullable<ScriptCompilerParts['run']> {
    const scripts = new Map<string, OneScript>();
    return (scriptId, lua, lifecycle, entityId, parameters, deltaTimeSec) => {
        let script = scripts.get(scriptId);
        if (script === undefined || script.lua !== lua) {
            script?.end();
            script = new OneScript(core, lua);
            scripts.set(scriptId, script);
        }
        return script.run(lifecycle, entityId, parameters, deltaTimeSec);
    };
}
