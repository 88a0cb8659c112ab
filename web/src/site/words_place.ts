// Every sentence of the page of a place.
import { words as siteWords } from './words.ts';

const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

// 4,358 becomes "4.4 kB".
export function bytesText(bytes: number): string {
    if (bytes < 1000) {
        return `${whole.format(bytes)} B`;
    }
    return bytes < 1e6 ? `${short.format(bytes / 1e3)} kB` : `${short.format(bytes / 1e6)} MB`;
}

const english = {
    play: 'Play',
    playBeta: 'Play the beta',
    playDraft: 'Play the draft',
    privateWorld: 'Play with friends',
    privateTitle: 'A world for you and your friends',
    privateHint: 'Only people with this code or link come in. It stays as you leave it until you delete it.',
    tooManyWorlds: 'You have as many worlds as you may have. Delete one of them first:',
    yourWorlds: 'Your worlds',
    worlds: 'Worlds that run',
    noWorlds: 'None is running. Press Play to start one.',
    join: 'Join',
    room: (players: number, most: number) => `${whole.format(players)} of ${whole.format(most)}`,
    players: 'Players',
    playing: 'Playing now',
    mostPlayers: 'Players in a world',
    upTo: (most: number) => `up to ${whole.format(most)}`,
    download: 'To download',
    downloadFile: 'Download its .game file',
    atMost: (bytes: number) => `at most ${bytesText(bytes)}`,
    about: 'About',
    noAbout: 'Its creator has written nothing about it.',
    favourite: 'Favourite',
    isFavourite: 'A favourite',
    up: 'I like it',
    down: 'I do not like it',
    report: 'Report',
    manage: 'Work on it',
    versions: 'Versions',
    version: (name: string) => `Version ${name}`,
    moreVersions: 'Show more versions',
    isLive: 'live',
    pictures: 'Pictures',
    picture: (at: number, count: number) => `Picture ${at} of ${count}`,
    visits: 'Visits',
    updated: 'Updated',
    cost: 'What it costs the server',
    costs: (ms: number, players: number) =>
        `${ms.toLocaleString(undefined, { maximumFractionDigits: 2 })} ms a tick with ${
            players === 1 ? '1 player' : `${whole.format(players)} players`}`,
    ping: 'Ping',
    pingIs: (ms: number) => `${whole.format(Math.round(ms))} ms`,
    code: 'Code',
    qr: (link: string) => `QR code of ${link}`,
    qrHint: 'Point a phone’s camera at it.',
    enter: 'Go in',
    link: 'Link',
    copy: 'Copy',
    copied: 'Copied.',
    copyByHand: 'Copy the link from the field.',
    share: 'Share',
    shareTitle: 'Share this place',
    reportText: 'What is wrong with it?',
    reported: 'Your report was sent to whoever runs this server.',
    needAccount: siteWords.signInFirst,
    fork: 'Make your own from it',
    forking: 'Making a copy …',
    making: 'Making a world …',
    forkStopped: 'Cancelled. What is there of it is among your places.',
    notLive: 'It has no live version yet.',
};

export const words = english;
