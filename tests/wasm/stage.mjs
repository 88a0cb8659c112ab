// A world and its clients in one instance of core.wasm, in virtual time: what the studio's preview
// does, without a page. The bridge is the page's own. Nothing here needs Node: tests/browser runs it
// in Chromium too.
import { ClientState, Core } from '../../web/src/core/bridge.ts';

const TICK_MS = 1000 / 60;

export { ClientState, Core };

export class Stage {
    // `compiled`: by the document of the studio; otherwise the files are compiled.
    constructor(core, files, compiled, before) {
        this.core = core;
        this.world = compiled === undefined ? core.createWorld(files) : core.createCompiledWorld(files, compiled, before);
        this.nowMs = 0;
        this.nextConnection = 1;
        this.players = [];
    }

    join(name, config = {}) {
        const whole = { name, playerId: name, ownerFetches: true, scripts: true, ...config };
        const player = {
            name,
            config: whole,
            client: this.core.createClient(whole),
            connection: 0,
            input: { moveX: 0, moveZ: 0, yaw: 0, pitch: 0, buttons: 0 },
            events: [],
        };
        this.players.push(player);
        this.connect(player);
        return player;
    }

    connect(player) {
        player.connection = this.nextConnection++;
        this.world.connect(player.connection);
        player.client.connect(this.nowMs);
    }

    // Every connection is gone, as after a difference that made the world anew.
    reconnectAll() {
        for (const player of this.players) {
            player.client.disconnected();
            this.connect(player);
        }
    }

    // As a page does with a host that has the scene and no runes.
    fetch(player) {
        for (const want of player.client.wants()) {
            if (want.scene && player.config.ownerFetches) {
                player.client.give(this.world.scene());
            } else {
                player.client.fetchOverWire();
            }
        }
    }

    step() {
        this.nowMs += TICK_MS;
        for (const player of this.players) {
            player.client.setInput(player.input);
            player.client.update(this.nowMs);
            for (const message of player.client.outputs()) {
                this.world.message(player.connection, message);
            }
        }
        this.world.tick(1_700_000_000_000 + Math.round(this.nowMs));
        for (const player of this.players) {
            for (const message of this.world.outputs(player.connection)) {
                player.client.receive(this.nowMs, message);
            }
            this.fetch(player);
            player.events.push(...player.client.events());
        }
    }

    run(seconds) {
        for (let i = 0; i < Math.round(seconds * 60); i++) {
            this.step();
        }
    }

    hashes() {
        return [this.world.hash(), ...this.players.map(({ client }) => client.hash())]
            .map((hash) => hash.toString(16).padStart(16, '0'));
    }

    end() {
        for (const { client } of this.players) {
            client.destroy();
        }
        this.world.destroy();
    }
}

// The session of tests/unit/island_session.h.
export function playSession(core, files) {
    const stage = new Stage(core, files);
    const ada = stage.join('ada');
    const bo = stage.join('bo');
    stage.run(2);
    ada.input.moveZ = 1;
    bo.input.moveX = 1;
    bo.input.buttons = 2;
    stage.run(2);
    ada.input.buttons = 5;
    stage.run(2);
    ada.input.moveZ = 0;
    bo.input.moveX = 0;
    stage.run(4);
    return { stage, ada, bo };
}
