// Debian's Firefox with a screen that exists in memory only, driven by WebDriver BiDi: the browser's own
// protocol, JSON over a WebSocket. Without a screen Firefox has no WebGL.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { until } from './support.mjs';

const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
const START_MS = 60_000;
const PREFERENCES = {
    'gfx.webrender.software': true,
    'webgl.force-enabled': true,
    'webgl.forbid-software': false,
    'security.sandbox.content.level': 0, // a container may not allow what its sandbox needs
    'app.update.enabled': false,
    'browser.aboutwelcome.enabled': false,
    'browser.shell.checkDefaultBrowser': false,
    'browser.startup.page': 0,
    'datareporting.policy.dataSubmissionEnabled': false,
    'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false,
    'remote.prefs.recommended': true,
    'toolkit.telemetry.enabled': false,
    'network.dns.disablePrefetch': true,
    'layout.frame_rate': 8, // a processor draws the pictures; the tests need few
};

const starting = (program, args, options) => new Promise((done, failed) => {
    const process = spawn(program, args, options);
    process.once('error', (error) => failed(new Error(
        `${program} could not be started (${error.message}); tools/setup installs it`)));
    process.once('spawn', () => done(process));
});

// A screen, and the number that Xvfb chose for it.
async function startScreen() {
    const screen = await starting('Xvfb', ['-displayfd', '3', '-screen', '0', '640x480x24',
        '-nolisten', 'tcp', '+extension', 'GLX'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    let text = '';
    screen.stdio[3].on('data', (data) => { text += data; });
    await until('there is a screen', () => text.includes('\n'), START_MS);
    return { screen, number: text.trim() };
}

export class Firefox {
    static async start() {
        const firefox = new Firefox();
        firefox.folder = mkdtempSync(join(tmpdir(), 'sandlot-firefox-'));
        firefox.answers = new Map();
        firefox.number = 0;
        firefox.complaints = []; // errors and warnings of every page
        writeFileSync(join(firefox.folder, 'user.js'), Object.entries(PREFERENCES)
            .map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`).join(''));
        try {
            await firefox.open();
        } catch (error) {
            await firefox.stop();
            throw error;
        }
        return firefox;
    }

    async open() {
        const { screen, number } = await startScreen();
        this.screen = screen;
        this.process = await starting(FIREFOX, ['--no-remote', '--profile', this.folder,
            '--remote-debugging-port', '0', '--width', '480', '--height', '360', 'about:blank'], {
            stdio: ['ignore', 'ignore', 'pipe'],
            env: {
                ...process.env, DISPLAY: `:${number}`, HOME: this.folder, LIBGL_ALWAYS_SOFTWARE: '1',
                MOZ_X11_EGL: '1', MOZ_CRASHREPORTER_DISABLE: '1',
            },
        });
        let said = '';
        this.process.stderr.on('data', (data) => { said += data; });
        this.ended = new Promise((done) => this.process.once('exit', done));
        const [, address] = await until('Firefox listens',
            () => /BiDi listening on (ws:\S+)/.exec(said), START_MS);
        this.socket = new WebSocket(`${address}/session`);
        await new Promise((done, failed) => {
            this.socket.onopen = done;
            this.socket.onerror = () => failed(new Error('Firefox refused the connection'));
        });
        this.socket.onmessage = ({ data }) => this.hear(JSON.parse(data));
        await this.send('session.new', { capabilities: {} });
        await this.send('session.subscribe', { events: ['log.entryAdded'] });
        const { contexts } = await this.send('browsingContext.getTree', {});
        this.page = contexts[0].context;
    }

    hear({ id, type, method, result, message, params }) {
        if (method === 'log.entryAdded' && (params.level === 'error' || params.level === 'warn')) {
            this.complaints.push(`${params.level}: ${params.text}`);
        }
        const answer = this.answers.get(id);
        this.answers.delete(id);
        if (type === 'error') {
            answer?.failed(new Error(message));
        } else {
            answer?.done(result);
        }
    }

    send(method, params) {
        this.number += 1;
        const id = this.number;
        this.socket.send(JSON.stringify({ id, method, params }));
        return new Promise((done, failed) => this.answers.set(id, { done, failed }));
    }

    go(url) {
        return this.send('browsingContext.navigate', { context: this.page, url, wait: 'complete' });
    }

    // The value of an expression in the page, as JSON.
    async evaluate(expression) {
        const { type, result, exceptionDetails } = await this.send('script.evaluate', {
            expression: `JSON.stringify(${expression})`, target: { context: this.page },
            awaitPromise: false,
        });
        if (type !== 'success') {
            throw new Error(exceptionDetails.text);
        }
        return result.value === undefined ? undefined : JSON.parse(result.value);
    }

    // Keys: a text is typed; `down` and `up` hold one.
    keys(...actions) {
        return this.send('input.performActions', {
            context: this.page, actions: [{ type: 'key', id: 'keyboard', actions }],
        });
    }

    type(text) {
        return this.keys(...[...text].flatMap((value) =>
            [{ type: 'keyDown', value }, { type: 'keyUp', value }]));
    }

    hold(value, ms) {
        return this.keys({ type: 'keyDown', value }, { type: 'pause', duration: ms },
            { type: 'keyUp', value });
    }

    async screenshot(path) {
        const { data } = await this.send('browsingContext.captureScreenshot', { context: this.page });
        writeFileSync(path, Buffer.from(data, 'base64'));
    }

    async stop() {
        this.socket?.close();
        this.process?.kill('SIGKILL');
        await this.ended;
        this.screen?.kill('SIGKILL');
        rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    }
}
